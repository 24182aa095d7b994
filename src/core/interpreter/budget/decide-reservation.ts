/** One amount of a budget (money, tokens or time), as somebody finds it who wants to begin. */
export interface Amount {
  readonly limit: number;
  readonly used: number;
  /** Promised to attempts that fly. */
  readonly reserved: number;
  /** Into how many parts the rest is cut at most. */
  readonly window: number;
  /** The most that an attempt of this step has used. Absent: there was none. */
  readonly seen?: number | undefined;
  /** What the attempt before was promised and found too little, where this one begins from its start again. */
  readonly tooLittle?: number | undefined;
  /** A person can be asked for more. */
  readonly asks?: boolean;
}

export type ReservationDecision =
  | { readonly kind: "reserved"; readonly amount: number }
  /** Those that fly may leave something. */
  | { readonly kind: "hold" }
  | { readonly kind: "exceeded" };

/** Into how many parts the rest is cut for who may need any amount of it. */
const FEW = 4;

/**
 * What the next attempt may use. What is used and promised together never exceeds the limit, so that no two can spend the
 * same rest: an attempt is promised a part of what is left, or twice the most that one of its step has used if that is more;
 * who finds less waits for those that fly, and where nothing flies it has all that is left. Whoever comes back because its
 * share was too little needs twice as much at least, and nothing is spent on a try that is sure to need more than is left.
 * Where a person can give more, not even on one that will hardly end.
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
  // Of what is unspent, not of what is left: parts that shrink would let any number start.
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
