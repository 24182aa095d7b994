import { evaluate } from "../../core/expressions/evaluate.ts";
import type { Expr, PathExpr } from "../../core/expressions/expr.ts";
import { readPath } from "../../core/expressions/read-path.ts";
import { childrenOf, walkPaths } from "../../core/expressions/walk-paths.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Assumptions } from "./plan-assumptions.ts";

/** What a step's expressions can know before anything has run. */
export interface KnownValues {
  readonly input: JsonObject;
  /** Names of the input whose values come from outputs. */
  readonly unknownInputs: ReadonlySet<string> | "all";
  /** Those of the fan-out that the step is in. Undefined: it is in none, or its list is not known. */
  readonly items: readonly Json[] | undefined;
  /** How many tokens the output of a step has at most. Undefined: it is that of a fan-out of unknown length. */
  outputTokens(step: string): number | undefined;
}

/** Whether the expression reads nothing but what is known. */
export function isKnown(expr: Expr, known: KnownValues): boolean {
  let isAll = !hasRecorded(expr);
  walkPaths(expr, (path) => {
    isAll &&= isKnownPath(path, known);
  });
  return isAll;
}

/** The values that a known expression has: one for each item where it reads the item, else one. */
export function valuesOf(expr: Expr, known: KnownValues): readonly (Json | undefined)[] {
  let readsItem = false;
  walkPaths(expr, ({ root }) => {
    readsItem ||= root === "item";
  });
  const items = readsItem ? (known.items ?? []) : [undefined];
  return items.map((item) =>
    evaluate(expr, {
      path: ({ root, path, readsJson }) => {
        if (root === "input") return readPath(known.input, path, readsJson);
        if (root === "item") return readPath(item, path, readsJson);
        return root === "index" ? 0 : undefined;
      },
    }),
  );
}

/** Undefined: it is not known, or differs from item to item. */
export function knownValueOf(expr: Expr | undefined, known: KnownValues): Json | undefined {
  if (expr === undefined || !isKnown(expr, known)) return undefined;
  const values = valuesOf(expr, known);
  const [first] = values;
  return values.every((value) => JSON.stringify(value) === JSON.stringify(first)) ? first : undefined;
}

/** How many tokens the value has at most. Undefined: nothing bounds it. */
export function tokensOf(expr: Expr, known: KnownValues, assumptions: Assumptions): number | undefined {
  if (isKnown(expr, known)) {
    return valuesOf(expr, known).reduce((most: number, value) => Math.max(most, countTokens(value, assumptions)), 0);
  }
  if (expr.op === "path") {
    return expr.root === "steps" ? known.outputTokens(expr.name ?? "") : assumptions.value_tokens;
  }
  let sum =
    expr.op === "text" ? countTokens(expr.parts.filter((part) => typeof part === "string").join(""), assumptions) : 0;
  for (const child of childrenOf(expr)) {
    const tokens = tokensOf(child, known, assumptions);
    if (tokens === undefined) return undefined;
    sum += tokens;
  }
  return sum;
}

function countTokens(value: Json | undefined, { bytes_per_token: bytesPerToken }: Assumptions): number {
  if (value === undefined) return 0;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

function isKnownPath({ root, path }: PathExpr, { unknownInputs, items }: KnownValues): boolean {
  if (root === "item") return items !== undefined;
  if (root !== "input") return root === "local" || root === "index";
  if (unknownInputs === "all") return false;
  const [name] = path;
  return name === undefined ? unknownInputs.size === 0 : !unknownInputs.has(String(name));
}

function hasRecorded(expr: Expr): boolean {
  return expr.op === "known" || childrenOf(expr).some(hasRecorded);
}
