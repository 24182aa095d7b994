import type { Json } from "../json.ts";
import type { KnownExpr, PathExpr } from "./expr.ts";

/** Resolves the names of an expression. */
export interface Scope {
  path(expr: PathExpr): Json | undefined;
  known?(expr: KnownExpr): Json | undefined;
  /** Linear-time regular expressions are the host's; without them `matches` is undefined. */
  matches?(text: string, pattern: string): boolean;
  /** Like `parseJson`, with a cache. */
  parse?(text: string): Json | undefined;
}
