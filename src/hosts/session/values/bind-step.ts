import { bind, loadHandle } from "../../../core/binding/bind.ts";
import { collectOfHandle } from "../../../core/binding/values-needed.ts";
import type { Expr } from "../../../core/expressions/expr.ts";
import type { Handle, Instance } from "../../../core/history/run-state.ts";
import { viewOf } from "../../../core/interpreter/lookup.ts";
import type { Json } from "../../../core/json.ts";
import type { LiveRun } from "../live-run.ts";
import { type Arrival, type Projection, projectionExprs, projectOutput } from "./project-output.ts";

/** The values of expressions as an instance sees them now; undefined where a path leads nowhere. */
export async function bindAll(run: LiveRun, instance: Instance, exprs: readonly Expr[]): Promise<(Json | undefined)[]> {
  const from = viewOf(instance);
  const values = await run.values.load(from, exprs);
  return exprs.map((expr) => bind({ state: run.state, from, values }, expr));
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
