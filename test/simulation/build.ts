import type { Expr } from "../../src/core/expressions/expr.ts";
import type {
  DagFlow,
  Flow,
  MachineFlow,
  RetryPolicy,
  Step,
  TaskStep,
  Transition,
} from "../../src/core/graph/graph.ts";
import type { Json } from "../../src/core/json.ts";
import type { Behaviour, TaskCall, TaskResult } from "./behaviour.ts";
import { CoreHost, type CoreHostSetup } from "./core-host.ts";
import { newGraph } from "./random-graph.ts";

/** Short words for graphs written by hand. */

export function dag(...steps: readonly Step[]): DagFlow {
  return { kind: "dag", steps };
}

export function machine(steps: readonly Step[], more: Partial<MachineFlow> = {}): MachineFlow {
  return { kind: "machine", start: steps[0]?.id ?? "", steps, ...more };
}

/** A task whose input is its needs' outputs, unless told otherwise. */
export function task(id: string, more: Partial<TaskStep> = {}): TaskStep {
  const needs = (more.after ?? []).map((need): [string, Expr] => [need, steps(need)]);
  return { kind: "task", executor: "code", id, input: object(Object.fromEntries(needs)), ...more };
}

export function literal(value: Json): Expr {
  return { op: "literal", value };
}

export function object(entries: { readonly [name: string]: Expr }): Expr {
  return { op: "object", entries };
}

export function steps(name: string, ...path: (string | number)[]): Expr {
  return { op: "path", root: "steps", name, path };
}

export function input(...path: (string | number)[]): Expr {
  return { op: "path", root: "input", path };
}

export function item(...path: (string | number)[]): Expr {
  return { op: "path", root: "item", path };
}

export function output(...path: (string | number)[]): Expr {
  return { op: "path", root: "output", path };
}

export function variable(name: string, ...path: (string | number)[]): Expr {
  return { op: "path", root: "vars", name, path };
}

export function error(...path: string[]): Expr {
  return { op: "path", root: "error", path };
}

/** Whether the text of a small value that prints huge, `map([[1, 1]], x1 => map([[x1, x1]], x2 => ...))`, is empty: it is never known. */
export function tooCostly(levels = 60): Expr {
  const nest = (at: number, of: Expr): Expr => {
    if (at > levels) return of;
    const list: Expr = { op: "list", items: [{ op: "list", items: [of, of] }] };
    return {
      op: "map",
      list,
      as: `x${at}`,
      body: nest(at + 1, { op: "path", root: "local", name: `x${at}`, path: [] }),
    };
  };
  return compare({ op: "call", fn: "toJson", args: [nest(1, literal(1))] }, "==", "");
}

export function compare(left: Expr, by: "==" | "!=" | "<" | ">", right: Json): Expr {
  return { op: "compare", by, left, right: literal(right) };
}

export function each(list: Expr, maxConcurrent = 100): { readonly list: Expr; readonly maxConcurrent: number } {
  return { list, maxConcurrent };
}

export function go(to: string, when?: Expr, on: Transition["on"] = "any"): Transition {
  return { on, to, ...(when === undefined ? {} : { when }) };
}

export function end(how: "success" | "failure" = "success", on: Transition["on"] = "any"): Transition {
  return { on, to: { end: how } };
}

export function retry(maxAttempts: number, more: Partial<RetryPolicy> = {}): RetryPolicy {
  return { maxAttempts, backoff: "fixed", initialMs: 100, maxMs: 60_000, jitter: 0, ...more };
}

/** What a task does, by path or else by step id: a result for each failure before, the last one for ever. */
export type Script = {
  readonly [pathOrId: string]: TaskResult | readonly TaskResult[] | ((call: TaskCall) => TaskResult);
};

function scripted(script: Script, more: Partial<Behaviour> = {}): Behaviour {
  return { task: (call) => scriptedResult(script, call), ...more };
}

/** Unscripted tasks say who they are. */
function scriptedResult(script: Script, call: TaskCall): TaskResult {
  const { path, stepId, failures } = call;
  const found = script[path] ?? script[stepId];
  if (found === undefined) return { output: path };
  if (typeof found === "function") return found(call);
  if (!isList(found)) return found;
  return found[Math.min(failures, found.length - 1)] ?? { output: path };
}

function isList(found: TaskResult | readonly TaskResult[]): found is readonly TaskResult[] {
  return Array.isArray(found);
}

export function fails(code = "AGENT_FAILED", more: Partial<TaskResult> = {}): TaskResult {
  return { fail: code, ...more } as TaskResult;
}

/** A task that spends so much, or nothing if less is left. */
export function spends(costMicro: number, more: Partial<TaskResult> = {}): (call: TaskCall) => TaskResult {
  return ({ leftMicro = costMicro }) =>
    ({
      ...(leftMicro < costMicro ? { fail: "BUDGET_EXCEEDED", outspent: true } : { output: 1, costMicro }),
      ...more,
    }) as TaskResult;
}

export interface HostOptions extends Partial<Omit<CoreHostSetup, "graph" | "behaviour">> {
  readonly script?: Script;
  readonly outside?: Partial<Behaviour>;
  readonly limits?: CoreHostSetup["graph"]["limits"];
  readonly declared?: readonly string[];
}

export function hostOf(
  flow: Flow,
  { script = {}, outside = {}, limits = {}, declared = [], ...setup }: HostOptions = {},
): CoreHost {
  const graph = { ...newGraph("test", flow), limits, input: { declared, defaults: {} } };
  return new CoreHost({ ...setup, graph, behaviour: scripted(script, outside) });
}

/** What reached the outside, in order. */
export function pathsOf(host: CoreHost): string[] {
  return host.calls.map(({ path }) => path);
}

/** The input that a task was called with. */
export function inputOf(host: CoreHost, path: string): Json | undefined {
  return host.calls.findLast((call) => call.path === path)?.input;
}

export function endingOf(host: CoreHost): { readonly status: string; readonly code?: string } | undefined {
  const { ending } = host.state;
  if (ending === undefined) return undefined;
  return { status: ending.status, ...(ending.code === undefined ? {} : { code: ending.code }) };
}
