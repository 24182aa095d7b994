import type { Comparison, Expr, TextPart } from "../../core/expressions/expr.ts";
import { call } from "../build-expr.ts";
import { makeReference, type Need, referredBy } from "./reference.ts";
import { bindGiven, currentScope, invalid } from "./scope.ts";
import type { Given, Ref, Value } from "./types.ts";

/** Conditions over values that a run will have. What is richer is a `run`. */
export const eq = <T>(left: Ref<T>, right: Given<NoInfer<T>>): Value<boolean> => compare("==", left, right);
export const ne = <T>(left: Ref<T>, right: Given<NoInfer<T>>): Value<boolean> => compare("!=", left, right);
export const lt = <T extends number | string>(left: Ref<T>, right: T | Ref<T>): Value<boolean> =>
  compare("<", left, right);
export const le = <T extends number | string>(left: Ref<T>, right: T | Ref<T>): Value<boolean> =>
  compare("<=", left, right);
export const gt = <T extends number | string>(left: Ref<T>, right: T | Ref<T>): Value<boolean> =>
  compare(">", left, right);
export const ge = <T extends number | string>(left: Ref<T>, right: T | Ref<T>): Value<boolean> =>
  compare(">=", left, right);
export const and = (...of: readonly Ref<boolean>[]): Value<boolean> =>
  combine(of, (exprs) => ({ op: "and", of: exprs }));
export const or = (...of: readonly Ref<boolean>[]): Value<boolean> => combine(of, (exprs) => ({ op: "or", of: exprs }));
export const not = (of: Ref<boolean>): Value<boolean> => combine([of], ([expr]) => ({ op: "not", of: expr }));
/** Whether the value is there and is not null. */
export const has = (of: Ref<unknown>): Value<boolean> =>
  combine([of], ([expr]) => ({ op: "defined", of: call("coalesce", expr) }));
/** How many items a list has, or characters a text. */
export const count = (of: Ref<readonly unknown[] | string>): Value<number> =>
  combine([of], ([expr]) => call("length", expr));

/** A text with values in it: ``text`Dear ${lead.name}` ``. Lists and objects are written as JSON. A value is never expanded again. */
export function text(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Ref<unknown>)[]
): Value<string> {
  if (!Array.isArray(parts))
    throw invalid("`text` is called", "Write it as a tag before a template, without brackets.");
  return combine(values, (exprs) => {
    const pieces = parts.flatMap((part, index): TextPart[] => {
      const value = exprs[index];
      return [part, ...(value === undefined ? [] : [{ value, written: "" }])].filter((piece) => piece !== "");
    });
    return { op: "text", parts: pieces };
  });
}

/** A value as JSON text. */
export const json = (of: Ref<unknown>): Value<string> => combine([of], ([expr]) => call("toJson", expr));

function compare(by: Comparison, left: unknown, right: unknown): Value<boolean> {
  return combine([left, right], ([first, second]) => ({ op: "compare", by, left: first, right: second }));
}

/** The needs of an expression are those of its parts: they are met where it is used. */
function combine<T, const Parts extends readonly unknown[]>(
  parts: Parts,
  build: (exprs: { readonly [_ in keyof Parts]: Expr }) => Expr,
): Value<T> {
  const needs: Need[] = [];
  const exprs = parts.map((part) => {
    const referred = referredBy(part);
    needs.push(...(referred?.needs ?? []));
    return referred?.expr ?? bindGiven(currentScope("a value"), part, "a value").expr;
  });
  return makeReference({ expr: build(exprs as { readonly [_ in keyof Parts]: Expr }), needs });
}
