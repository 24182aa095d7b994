/** One amount of a budget (money, tokens or time), as an attempt that is to begin finds it. */
export interface Amount {
  readonly limit: number;
  readonly used: number;
  /** Reserved for running attempts. */
  readonly reserved: number;
  /** The rest is divided into at most so many parts. */
  readonly window: number;
  /** The most that an attempt of this step has used. Absent: there was none. */
  readonly seen?: number | undefined;
  /** Before one has ended: the likely use of an attempt. */
  readonly expected?: number | undefined;
  /** True: an attempt in flight is to show what one of this step uses. Absent: attempts need not wait for that. */
  readonly isProbed?: boolean;
  /** The least that the next call of an attempt that goes on needs. */
  readonly needs?: number | undefined;
  /** A reservation that was too little for the attempt before, if this one begins from its start again. */
  readonly tooLittle?: number | undefined;
  /** A person can be asked for more. */
  readonly asks?: boolean;
}

export type ReservationDecision =
  | { readonly kind: "reserved"; readonly amount: number }
  /** Running attempts may leave something. */
  | { readonly kind: "hold" }
  | { readonly kind: "exceeded" };

/**
 * Decides what the next attempt may use. Used and reserved amounts together never exceed the limit, so no two attempts can
 * spend the same rest. An attempt gets a part of what is left, or twice the most that an attempt of its step has used if that
 * is more: few attempts that end are worth more than many that do not. Until one has ended, it gets what its executor expects. Where
 * nothing is known, one attempt shows it. If there is less, an attempt waits for running ones, and if none
 * runs it gets all that is left. An attempt whose reservation was too little gets at least twice as much. Nothing is spent on a try
 * that is sure to need more than is left, and if a person can give more, not even on one that will hardly end.
 */
export function decideReservation(amount: Amount): ReservationDecision {
  const { limit, used, reserved, seen, tooLittle = 0, needs = 0, asks = false } = amount;
  // A part of what is unspent, not of what is left: shrinking parts would let any number start.
  const unspent = limit - used;
  if (unspent <= tooLittle || unspent < needs) return { kind: "exceeded" };
  if (isUnknown(amount) && amount.isProbed === true) return { kind: "hold" };
  const wanted = Math.max(usualPart(amount, unspent), 2 * (seen ?? 0), 2 * tooLittle, needs, 1);
  const isAlone = reserved <= 0;
  if (isAlone && tooLittle > 0) return { kind: "reserved", amount: unspent };
  if (unspent - reserved >= wanted) return { kind: "reserved", amount: wanted };
  if (!isAlone) return { kind: "hold" };
  return asks && seen !== undefined && unspent < seen ? { kind: "exceeded" } : { kind: "reserved", amount: unspent };
}

/** Nobody can say what an attempt of this step uses. */
export function isUnknown({ seen, expected, tooLittle = 0 }: Pick<Amount, "seen" | "expected" | "tooLittle">): boolean {
  return seen === undefined && expected === undefined && tooLittle === 0;
}

/** The rest is divided into so many parts for attempts that may need any amount. */
const FEW = 4;

function usualPart(amount: Amount, unspent: number): number {
  const { window, seen, expected, tooLittle = 0 } = amount;
  if (seen !== undefined && tooLittle === 0) return Math.floor(unspent / window);
  if (expected !== undefined && tooLittle === 0) return expected;
  return Math.floor(unspent / Math.min(window, FEW));
}
