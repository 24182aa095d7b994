/** One amount of a budget: money, tokens, tries or time. */
export interface Amount {
  readonly limit: number;
  readonly used: number;
  /** Promised to attempts that fly. */
  readonly reserved: number;
  /** The most that an attempt of this step has used. Undefined: there was none. */
  readonly seen: number | undefined;
  /** A person can be asked for more. */
  readonly asks: boolean;
}

export type Share =
  | { readonly kind: "share"; readonly amount: number }
  /** Those that fly may leave something. */
  | { readonly kind: "hold" }
  | { readonly kind: "exceeded" };

/** Into how many parts what is left is cut for steps of which nothing is known. */
const PARTS = 4;

/**
 * What the next attempt may use. What is used and promised together never exceeds the limit, so that of any number of runs
 * no two can spend the same rest: a step of which nothing is known is promised a fourth of what is left, later twice the
 * most that it has used; who finds less waits for those that fly, and who flies alone has all that is left. Where that is
 * less than such an attempt has needed before, and a person can give more, it is not spent on one that will hardly end.
 */
export function decideShare({ limit, used, reserved, seen, asks }: Amount): Share {
  const left = limit - used;
  if (left <= 0) return { kind: "exceeded" };
  const wanted = Math.max(1, seen === undefined ? Math.floor(left / PARTS) : 2 * seen);
  if (left - reserved >= wanted) return { kind: "share", amount: wanted };
  if (reserved > 0) return { kind: "hold" };
  return asks && seen !== undefined && left < seen ? { kind: "exceeded" } : { kind: "share", amount: left };
}
