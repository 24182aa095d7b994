import type { Budget, Instance } from "../../history/run-state.ts";
import { decideReservation, type ReservationDecision } from "./decide-reservation.ts";

/** What the next attempt of a task may spend of the run's own budget. Undefined: there is none. */
export function computeReservation(
  budget: Budget,
  { step, tooLittleMicro }: Instance,
): ReservationDecision | undefined {
  const { limitMicro, spentMicro, reservedMicro, window, maxSeenMicro } = budget;
  if (limitMicro === undefined) return undefined;
  return decideReservation({
    limit: limitMicro,
    used: spentMicro,
    reserved: reservedMicro,
    window,
    seen: maxSeenMicro.get(step.key),
    tooLittle: tooLittleMicro,
  });
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
