import { bind, type Values } from "../../../core/binding/bind.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { evaluate } from "../../../core/expressions/evaluate.ts";
import type { Expr, Scope } from "../../../core/expressions/expr.ts";
import { readPath } from "../../../core/expressions/read-path.ts";
import { traitsOf } from "../../../core/graph/dialects.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import type { Instance, RunState } from "../../../core/history/run-state.ts";
import { viewOf } from "../../../core/interpreter/lookup.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { maskJson } from "./mask-json.ts";
import { MissingReferences } from "./missing-references.ts";

/** The small values that control and scope variables read of an output. They are recorded with it. */
export interface Projection {
  readonly projected?: JsonObject;
  readonly assigned?: JsonObject;
  /** What conditions compare of the output, and it has not. */
  readonly missing?: readonly string[];
}

/** A condition reads small values. Larger ones are not put into events. */
const MAX_CONTROL_CHARS = 64 * 1024;

const NO_EXPRS: readonly Expr[] = [];
const NO_PROJECTION: Projection = {};

export function projectionExprs(instance: Instance): readonly Expr[] {
  const { project = {}, assign = {}, retry } = instance.step.step;
  if (!instance.step.needsProjection && retry?.when === undefined) return NO_EXPRS;
  return [...Object.values(project), ...Object.values(assign), ...(retry?.when === undefined ? [] : [retry.when])];
}

/** The output of an instance; `{error}` for a failure. */
export interface Arrival {
  readonly output: Json;
  readonly hasFailed: boolean;
}

export function projectOutput(
  state: RunState,
  instance: Instance,
  values: Values,
  { output, hasFailed }: Arrival,
): Projection {
  if (!instance.step.needsProjection) return NO_PROJECTION;
  const { project, assign } = instance.step.step;
  const { graph } = instance.scope.frame.graph;
  // Failures, and results of terminal tools, have what they have.
  const missing = hasFailed || traitsOf(graph).isTerminal ? undefined : new MissingReferences(graph);
  const evaluateAll = (exprs: { readonly [name: string]: Expr }) => {
    const entries: [string, Json][] = [];
    for (const [name, expr] of Object.entries(exprs)) {
      const value = bind({ state, from: viewOf(instance), values, output, hasFailed, ...missing }, expr);
      if (value !== undefined) entries.push([name, value]);
    }
    return Object.fromEntries(entries);
  };
  return {
    ...(project === undefined ? {} : { projected: dropLarge(evaluateAll(project)) }),
    ...(assign === undefined ? {} : { assigned: evaluateAll(assign) }),
    ...missing?.toEvent(),
  };
}

/** Whether the step says itself that a failed attempt is repeated. Undefined: it leaves that to the failure. */
export function decideRetry(
  state: RunState,
  instance: Instance,
  values: Values,
  { code, ...error }: JsonObject,
): boolean | undefined {
  const { onCodes, when } = instance.step.step.retry ?? {};
  if (onCodes === undefined && when === undefined) return undefined;
  if (onCodes?.some((each) => each === code) === false) return false;
  const output = { error: { code: code ?? null, ...error, attempt: instance.failures + 1 } };
  return when === undefined || bind({ state, from: viewOf(instance), values, output, hasFailed: true }, when) === true;
}

/** Outputs are masked already, but other values are not, e.g. a variable of the environment. */
export function maskProjection(projection: Projection, mask: (text: string) => string): Projection {
  return maskJson(projection as JsonObject, mask).value as Projection;
}

/** A condition that reads something this large sees it as missing. */
function dropLarge(values: JsonObject): JsonObject {
  const kept = Object.entries(values).filter(([, value]) => !isLarge(value));
  return Object.fromEntries(kept);
}

function isLarge(value: Json | undefined): boolean {
  if (typeof value === "string") return value.length > MAX_CONTROL_CHARS;
  return typeof value === "object" && value !== null && writeExact(value).length > MAX_CONTROL_CHARS;
}

/** Regular expressions, and JSON in texts. */
export type TextTools = Pick<Scope, "matches" | "parse">;

/** The values that control reads of a run's input, recorded with its start. */
export function inputProjection(graph: Graph, input: JsonObject, tools: TextTools = {}): Omit<Projection, "assigned"> {
  const { project } = graph.input;
  if (project === undefined) return {};
  const { noteMissing, toEvent } = new MissingReferences(graph);
  const projected: [string, Json][] = [];
  for (const [key, expr] of Object.entries(project)) {
    const value = evaluateOnInput(expr, input, { ...tools, noteMissing });
    if (value !== undefined) projected.push([key, value]);
  }
  return { projected: Object.fromEntries(projected), ...toEvent() };
}

export function evaluateOnInput(expr: Expr, input: JsonObject, tools: Omit<Scope, "path">): Json | undefined {
  return evaluate(expr, {
    ...tools,
    path: ({ root, path, readsJson }) => (root === "input" ? readPath(input, path, readsJson, tools) : undefined),
  });
}
