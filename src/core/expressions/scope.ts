import type { Json } from "../json.ts";
import type { KnownExpr, PathExpr } from "./expr.ts";

/** Where an expression's names lead. */
export interface Scope {
  path(expr: PathExpr): Json | undefined;
  known?(expr: KnownExpr): Json | undefined;
  /** Linear-time regular expressions are the host's; without them `matches` is undefined. */
  matches?(text: string, pattern: string): boolean;
  /** As `parseJson`, from a memory of texts that were parsed before. */
  parse?(text: string): Json | undefined;
}
