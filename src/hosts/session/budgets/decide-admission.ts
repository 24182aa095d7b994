/** A call that is paid for, in micro-dollars. */
export interface CallCost {
  /** The most that it can cost. */
  readonly atMost: number;
  /** The least that makes it worth sending. */
  readonly least: number;
  /** The likely cost of a whole attempt, as a plan says it. Undefined: nothing is planned. */
  readonly planned?: number | undefined;
}

/** The money of one account, as a call finds it. In micro-dollars. */
export interface Money {
  readonly limit: number;
  /** Spent, in doubt, or kept for other processes. */
  readonly taken: number;
  /** The most that calls in flight may cost. */
  readonly inFlight: number;
  /** What the attempts under way will likely need, these calls included. */
  readonly claimed: number;
  /** Other attempts are under way that do not wait for money themselves. */
  readonly othersWork: boolean;
}

export type MoneyDecision =
  /** `micro`: what it may cost. Less than its bound: all that is left. */
  | { readonly kind: "go"; readonly micro: number }
  | { readonly kind: "wait" }
  /** `needs`: what would have to be left. */
  | { readonly kind: "short"; readonly needs: number };

/**
 * Decides whether a call may be sent. What is spent, in doubt and in flight never exceeds the limit, each call by the most that it
 * can cost. An attempt begins with its first call only if its likely cost fits beside those that are under way, so that
 * attempts that begin can end. What does not fit waits while others work. If none does, a call gets all that is left if that is
 * enough for it, and an attempt whose kind is known to cost more does not begin.
 */
export function decideMoney(
  { limit, taken, inFlight, claimed, othersWork }: Money,
  { atMost, least, planned }: CallCost,
  attempt: { readonly begins: boolean; readonly usual: number | undefined },
): MoneyDecision {
  const left = limit - taken;
  const likely = attempt.usual ?? planned ?? 0;
  const fits = attempt.begins ? claimed + Math.max(atMost, likely) <= left : inFlight + atMost <= left;
  if (fits) return { kind: "go", micro: atMost };
  if (othersWork) return { kind: "wait" };
  const { usual = 0 } = attempt;
  if (attempt.begins && usual > left) return { kind: "short", needs: usual };
  return least <= left ? { kind: "go", micro: Math.min(atMost, left) } : { kind: "short", needs: least };
}

/** Decides whether an attempt may begin, by an amount that is known when it is over: one may go beyond a limit. */
export function decideUse({
  limit,
  taken,
  claimed,
  usual,
  othersWork,
}: Omit<Money, "inFlight"> & { readonly usual: number }): "go" | "wait" | "short" {
  if (taken >= limit) return "short";
  return othersWork && taken + claimed + usual > limit ? "wait" : "go";
}
