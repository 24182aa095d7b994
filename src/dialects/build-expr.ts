import type { Expr, FunctionName, PathExpr } from "../core/expressions/expr.ts";
import type { Json } from "../core/json.ts";

/** Short words for the expressions that dialects make. */

export function literal(value: Json): Expr {
  return { op: "literal", value };
}

export function literalIfAny(value: Json | undefined): Expr | undefined {
  return value === undefined ? undefined : literal(value);
}

/** Read from what the run was started with. */
export function inputAt(...path: readonly (string | number)[]): PathExpr {
  return { op: "path", root: "input", path };
}

/** Read from the output of another step. */
export function outputOf(step: string, ...path: readonly (string | number)[]): PathExpr {
  return { op: "path", root: "steps", name: step, path };
}

/** Read from the output of the step that has just ended. */
export function output(...path: readonly (string | number)[]): PathExpr {
  return { op: "path", root: "output", path };
}

export function variable(name: string): PathExpr {
  return { op: "path", root: "vars", name, path: [] };
}

export function call(fn: FunctionName, ...args: readonly Expr[]): Expr {
  return { op: "call", fn, args };
}

export function first(...of: readonly Expr[]): Expr {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { op: "first", of };
}

export function isEqualTo(left: Expr, right: Expr): Expr {
  return { op: "compare", by: "==", left, right };
}

export function allOf(of: readonly Expr[]): Expr {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { op: "and", of };
}

/** Names without a value are left out. */
export function toObject(entries: readonly (readonly [string, Expr | undefined])[]): Expr {
  const given = entries.filter((entry): entry is readonly [string, Expr] => entry[1] !== undefined);
  return { op: "object", entries: Object.fromEntries(given) };
}

/** The value of the case that `by` names; undefined where there is none. */
export function oneOf(cases: readonly (readonly [string, Expr])[], by: Expr): Expr {
  return { op: "index", of: toObject(cases), at: by };
}
