import type { Budget, Instance } from "../history/run-state.ts";

export type Reservation =
  | { readonly kind: "unlimited" }
  | { readonly kind: "reserved"; readonly micro: number }
  /** Something that flies may give room back. */
  | { readonly kind: "hold" }
  | { readonly kind: "exceeded" };

/**
 * What the next task may spend. Spent and reserved money together never exceed the limit, as long as providers keep
 * to what they were given: while little is known the remainder is cut into few parts, later each task gets twice what
 * the dearest of its kind has cost, or its part if that is more.
 */
export function computeReservation(budget: Budget, stepKey: string): Reservation {
  if (budget.limitMicro === undefined) return { kind: "unlimited" };
  const unspent = budget.limitMicro - budget.spentMicro;
  const remaining = unspent - budget.reservedMicro;
  // Of what is unspent, not of what is left: parts that shrink would let any number start.
  const part = Math.floor(unspent / budget.window);
  const wanted = Math.max(part, 2 * (budget.maxSeenMicro.get(stepKey) ?? 0), 1);
  if (remaining >= wanted && remaining > 0) return { kind: "reserved", micro: wanted };
  if (budget.reservedMicro > 0) return { kind: "hold" };
  return remaining > 0 ? { kind: "reserved", micro: remaining } : { kind: "exceeded" };
}

/** What one attempt may spend: what is reserved for it, and no more than is left of the step's own limit. */
export function computeCap({ step, costMicro }: Instance, reservedMicro: number | undefined): number | undefined {
  const own = step.step.maxCostMicro;
  const ownLeft = own === undefined ? Number.POSITIVE_INFINITY : own - costMicro;
  const cap = Math.min(reservedMicro ?? Number.POSITIVE_INFINITY, ownLeft);
  return Number.isFinite(cap) ? cap : undefined;
}

const LARGEST_WINDOW = 4096;

export function bookOutcome(budget: Budget, stepKey: string, costMicro: number): void {
  if (costMicro > (budget.maxSeenMicro.get(stepKey) ?? -1)) budget.maxSeenMicro.set(stepKey, costMicro);
  if (budget.window < LARGEST_WINDOW) budget.window *= 2;
}
