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
import { MissingReferences } from "./missing-references.ts";
import { type Arrival, type Projection, projectionExprs, projectOutput } from "./project-output.ts";

/** The values of expressions as an instance sees them now, undefined where a path leads nowhere; and the references that do not lead anywhere. */
export async function bindAll(run: LiveRun, instance: Instance, exprs: readonly Expr[]) {
  const from = viewOf(instance);
  const loaded = await run.values.load(from, exprs);
  const { noteMissing, toEvent } = new MissingReferences(instance.scope.frame.graph.graph);
  const values = exprs.map((expr) => bind({ state: run.state, from, values: loaded, noteMissing }, expr));
  return { values, ...toEvent() };
}

/** What is called with them is told at the last moment, and no record has their values. Prompts read them as any other value. */
const TAKE_VARIABLES: ReadonlySet<ExecutorKind> = new Set(["code", "http", "mcp", "terminal"]);

export interface TaskInput {
  /** With `${NAME}` in place of variables of the environment where its executor takes them. */
  readonly input: Json;
  /** References that led nowhere. Absent: none. */
  readonly missing?: readonly string[];
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
  const { graph } = scope.frame.graph;
  const { noteMissing, toEvent } = new MissingReferences(graph);
  const bindWith = (env: Values["env"]) =>
    bind({ state: run.state, from, values: { ...values, env }, noteMissing }, step.input) ?? null;
  const takesVariables =
    graph.envAllowed.length > 0 && TAKE_VARIABLES.has(step.executor) && !traitsOf(graph).isTerminal;
  const input = bindWith(takesVariables ? (name) => `\${${name}}` : values.env);
  const bound = { input, ...toEvent() };
  // Tools of every application keep what they are given.
  if (!takesVariables || isCoreTool(input)) return bound;
  const withVariables = () => {
    const secrets: string[] = [];
    const filled = bindWith((name) => {
      const value = values.env(name) ?? refuseMissing(name);
      secrets.push(value);
      return value;
    });
    return { input: filled, secrets };
  };
  return { ...bound, withVariables };
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
