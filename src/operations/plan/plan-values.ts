import { writeExact } from "../../core/exact-json.ts";
import { evaluate } from "../../core/expressions/evaluate.ts";
import type { Expr, PathExpr } from "../../core/expressions/expr.ts";
import { readPath } from "../../core/expressions/read-path.ts";
import { childrenOf, walkPaths } from "../../core/expressions/walk-paths.ts";
import { traitsOf } from "../../core/graph/dialects.ts";
import type { CallStep, Each, Graph } from "../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { passTurn } from "../../ports/turns.ts";
import { toOwnForm } from "../start/input/to-run-input.ts";
import { type Count, exactly, unknown } from "./plan-count.ts";
import type { Assumptions } from "./plan-schemas.ts";

/** The values that a step's expressions can read before anything has run. */
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
function isKnown(expr: Expr, known: KnownValues): boolean {
  let isAll = !hasRecorded(expr);
  walkPaths(expr, (path) => {
    isAll &&= isKnownPath(path, known);
  });
  return isAll;
}

/** The values that a known expression has: one for each item where it reads the item, else one. */
function* valuesOf(expr: Expr, known: KnownValues): Generator<Json | undefined> {
  let readsItem = false;
  walkPaths(expr, ({ root }) => {
    readsItem ||= root === "item";
  });
  const items = readsItem ? (known.items ?? []) : [undefined];
  for (const item of items)
    yield evaluate(expr, {
      path: ({ root, path, readsJson }) => {
        if (root === "input") return readPath(known.input, path, readsJson);
        if (root === "item") return readPath(item, path, readsJson);
        return root === "index" ? 0 : undefined;
      },
    });
}

/** Undefined: it is not known, or differs from item to item. */
export function knownValueOf(expr: Expr | undefined, known: KnownValues): Json | undefined {
  if (expr === undefined || !isKnown(expr, known)) return undefined;
  let first: { readonly value: Json | undefined; readonly text: string | undefined } | undefined;
  for (const value of valuesOf(expr, known)) {
    const text = writeExact(value);
    first ??= { value, text };
    if (text !== first.text) return undefined;
  }
  return first?.value;
}

/** How many tokens the value has at most. Undefined: nothing bounds it. */
export async function tokensOf(expr: Expr, known: KnownValues, assumptions: Assumptions): Promise<number | undefined> {
  if (isKnown(expr, known)) {
    let most = 0;
    for (const value of valuesOf(expr, known)) {
      most = Math.max(most, countTokens(value, assumptions));
      await passTurn();
    }
    return most;
  }
  if (expr.op === "path") return expr.root === "steps" ? known.outputTokens(expr.name ?? "") : assumptions.value_tokens;
  let sum =
    expr.op === "text" ? countTokens(expr.parts.filter((part) => typeof part === "string").join(""), assumptions) : 0;
  for (const child of childrenOf(expr)) {
    const tokens = await tokensOf(child, known, assumptions);
    if (tokens === undefined) return undefined;
    sum += tokens;
  }
  return sum;
}

function countTokens(value: Json | undefined, { bytes_per_token: bytesPerToken }: Assumptions): number {
  if (value === undefined) return 0;
  const text = typeof value === "string" ? value : writeExact(value);
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

/** The input of a called workflow, as far as it is known before a run. */
export function readCallInput(
  step: CallStep,
  graph: Graph,
  known: KnownValues,
): Pick<KnownValues, "input" | "unknownInputs"> {
  if (step.input.op !== "object") {
    const value = knownValueOf(step.input, known);
    return isJsonObject(value)
      ? { input: toInput(value, graph), unknownInputs: new Set() }
      : { input: {}, unknownInputs: "all" };
  }
  const values: { [name: string]: Json } = {};
  const unknownInputs = new Set<string>();
  for (const [name, expr] of Object.entries(step.input.entries)) {
    const value = knownValueOf(expr, known);
    if (value !== undefined) values[name] = value;
    else if (!isKnown(expr, known) || [...valuesOf(expr, known)].length > 1) unknownInputs.add(name);
  }
  if (traitsOf(graph).input === "request" && unknownInputs.size > 0) return { input: {}, unknownInputs: "all" };
  return { input: toInput(values, graph), unknownInputs };
}

function toInput(values: JsonObject, graph: Graph): JsonObject {
  return toOwnForm({ ...graph.input.defaults, ...values }, graph);
}

/** A list that is known is counted; one that a step makes is not known before. */
export function countItems(
  { list, coerce = false }: Each,
  known: KnownValues,
): { readonly count: Count; readonly items: readonly Json[] | undefined } {
  if (!isKnown(list, known))
    return { count: unknown("the list of its fan-out comes from an earlier step"), items: undefined };
  const lists = [...valuesOf(list, known)].map((value) => toItems(value, coerce));
  const lengths = new Set(lists.map(({ length }) => length));
  const count = Math.max(0, ...lengths);
  return { count: lengths.size <= 1 ? exactly(count) : { is: "at_most", count }, items: lists.flat() };
}

function toItems(value: Json | undefined, coerce: boolean): readonly Json[] {
  if (Array.isArray(value)) return value;
  return coerce && value !== undefined && value !== null ? [value] : [];
}

/** Undefined: one of the two is not known. */
export function plus(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}
