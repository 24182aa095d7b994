import type { Span } from "./expression-fault.ts";

/** The smallest pieces of an expression. */
export type Token = NameToken | LiteralToken | SignToken;

/** A root, a field, a function or a local. A hyphen belongs to the name. */
export interface NameToken extends Span {
  readonly kind: "name";
  readonly text: string;
}

export interface LiteralToken extends Span {
  readonly kind: "literal";
  readonly value: string | number | bigint | boolean | null;
}

export interface SignToken extends Span {
  readonly kind: "sign";
  readonly text: Sign;
}

export const COMPARISONS = ["==", "!=", "<=", ">=", "<", ">"] as const;

/** Longer ones first, so that `<=` is not read as `<`. */
export const SIGNS = ["=>", "&&", "||", ...COMPARISONS, "!", "(", ")", "[", "]", ",", "."] as const;

type Sign = (typeof SIGNS)[number];
