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

/** The rest is divided into so many parts for attempts that may need any amount. */
const FEW = 4;

/**
 * Decides what the next attempt may use. Used and reserved amounts together never exceed the limit, so no two attempts can
 * spend the same rest. An attempt gets a part of what is left, or twice the most that an attempt of its step has used if that
 * is more. If there is less, it waits for running attempts, and if none runs it gets all that is left. An attempt whose
 * reservation was too little gets at least twice as much. Nothing is spent on a try that is sure to need more than is left, and
 * if a person can give more, not even on one that will hardly end.
 */
export function decideReservation({
  limit,
  used,
  reserved,
  window,
  seen,
  tooLittle = 0,
  asks = false,
}: Amount): ReservationDecision {
  // A part of what is unspent, not of what is left: shrinking parts would let any number start.
  const unspent = limit - used;
  if (unspent <= tooLittle) return { kind: "exceeded" };
  const isKnown = seen !== undefined && tooLittle === 0;
  const part = Math.floor(unspent / (isKnown ? window : Math.min(window, FEW)));
  const wanted = Math.max(part, 2 * (seen ?? 0), 2 * tooLittle, 1);
  const isAlone = reserved <= 0;
  if (isAlone && tooLittle > 0) return { kind: "reserved", amount: unspent };
  if (unspent - reserved >= wanted) return { kind: "reserved", amount: wanted };
  if (!isAlone) return { kind: "hold" };
  return asks && seen !== undefined && unspent < seen ? { kind: "exceeded" } : { kind: "reserved", amount: unspent };
}
