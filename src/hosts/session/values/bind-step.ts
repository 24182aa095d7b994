import { bind, loadHandle, type Values } from "../../../core/binding/bind.ts";
import { collectOfHandle } from "../../../core/binding/values-needed.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Expr } from "../../../core/expressions/expr.ts";
import { traitsOf } from "../../../core/graph/dialects.ts";
import type { ExecutorKind, TaskStep } from "../../../core/graph/graph.ts";
import type { Handle, Instance } from "../../../core/history/run-state.ts";
import { type Viewpoint, viewOf } from "../../../core/interpreter/lookup.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { LiveRun } from "../live-run.ts";
import { type Arrival, type Projection, projectionExprs, projectOutput } from "./project-output.ts";

/** The values of expressions as an instance sees them now; undefined where a path leads nowhere. */
export async function bindAll(run: LiveRun, instance: Instance, exprs: readonly Expr[]): Promise<(Json | undefined)[]> {
  const from = viewOf(instance);
  const values = await run.values.load(from, exprs);
  return exprs.map((expr) => bind({ state: run.state, from, values }, expr));
}

/** What is called with them is told at the last moment, and no record has their values. Prompts read them as any other value. */
const TAKE_VARIABLES: ReadonlySet<ExecutorKind> = new Set(["code", "http", "mcp", "terminal"]);

/** What a task is given. */
export interface TaskInput {
  /** With `${NAME}` in place of variables of the environment where its executor takes them. */
  readonly input: Json;
  /** The same with their values, and those. Throws `VARIABLE_MISSING`. Absent: it takes none. */
  withVariables?(): { readonly input: Json; readonly secrets: readonly string[] };
}

export function bindTask(
  run: LiveRun,
  { scope }: Instance,
  step: TaskStep,
  from: Viewpoint,
  values: Values,
): TaskInput {
  const bindWith = (env: Values["env"]) => bind({ state: run.state, from, values: { ...values, env } }, step.input);
  const { graph } = scope.frame.graph;
  if (graph.envAllowed.length === 0 || traitsOf(graph).isTerminal || !TAKE_VARIABLES.has(step.executor)) {
    return { input: bind({ state: run.state, from, values }, step.input) ?? null };
  }
  const input = bindWith((name) => `\${${name}}`) ?? null;
  // Those tools keep what they are given.
  if (isCoreTool(input)) return { input };
  const withVariables = () => {
    const secrets: string[] = [];
    const filled = bindWith((name) => {
      const value = values.env(name) ?? refuseMissing(name);
      secrets.push(value);
      return value;
    });
    return { input: filled ?? null, secrets };
  };
  return { input, withVariables };
}

function isCoreTool(input: Json): boolean {
  const tool = isJsonObject(input) ? input["tool"] : undefined;
  return typeof tool === "string" && tool.startsWith("core.");
}

function refuseMissing(name: string): never {
  throw new PawlError("VARIABLE_MISSING", { message: `The step is given \`\${${name}}\`, which is not set here.` });
}

/** Projects an output that did not come from an executor. */
export async function projectValue(run: LiveRun, instance: Instance, arrival: Arrival): Promise<Projection> {
  if (!instance.step.needsProjection) return {};
  const values = await run.values.load(viewOf(instance), projectionExprs(instance));
  return projectOutput(run.state, instance, values, arrival);
}

/** The outcome that an instance already has, as a value. */
export async function outcomeArrival(run: LiveRun, instance: Instance): Promise<Arrival> {
  const { outcome } = instance;
  if (outcome === undefined || !("known" in outcome)) return { output: null, hasFailed: false };
  const handle: Handle =
    outcome.status === "succeeded" ? outcome.handle : { kind: "failure", failure: outcome.failure };
  const seqs = new Set<number>();
  collectOfHandle(handle, seqs);
  const output = loadHandle(handle, await run.values.load(viewOf(instance), [], seqs));
  return { output, hasFailed: outcome.status === "failed" };
}
