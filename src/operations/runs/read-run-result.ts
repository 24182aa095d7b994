import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import { resultOf } from "../../core/interpreter/flow/end-scope.ts";
import type { Json } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { type RunReading, type RunSources, readHandles, readRunHistory } from "./describe/describe-run-reading.ts";
import { eachEvent } from "./each-event.ts";
import { MetricsSum, type RunMetrics } from "./run-metrics.ts";

/** How a run has ended, for whoever asked for it. */
export interface RunResult {
  readonly record: RunRecord;
  readonly outcome:
    | { readonly is: "completed"; readonly output: Json }
    | { readonly is: "failed"; readonly code: string; readonly message: string; readonly details: Json };
  readonly metrics: RunMetrics;
  /** The whole reading, for whoever wants to tell more. */
  readonly reading: RunReading;
}

/** The result of a run that has ended. `graphs` keeps those that were read, for runs of the same workflow. */
export async function readRunResult(
  sources: RunSources,
  record: RunRecord,
  graphs?: Map<string, IndexedGraph>,
): Promise<RunResult> {
  const reading = await readRunHistory(sources, record, { graphs });
  const { startedAt = record.createdAt, completedAt = startedAt } = record;
  const metrics = (await sumUp(sources, record)).toMetrics(record.id, completedAt - startedAt);
  return { record, outcome: await readOutcome(reading), metrics, reading };
}

async function sumUp({ journal }: RunSources, record: RunRecord): Promise<MetricsSum> {
  const sum = new MetricsSum();
  for await (const { event } of eachEvent(journal, record.no)) sum.add(event);
  return sum;
}

/** A run that was `partial` has reached its end: what it has is its output. */
async function readOutcome(reading: RunReading): Promise<RunResult["outcome"]> {
  const { root, ending } = reading.history.state;
  const hasFailed = ending?.status !== "completed" && ending?.status !== "partial";
  const handle = root === undefined || hasFailed ? (root?.failure?.seq ?? 0) : resultOf(root);
  const value = (await readHandles(reading, [handle]))(handle);
  if (root !== undefined && !hasFailed) return { is: "completed", output: value };
  const { code = "STEP_FAILED", message = "The run has failed." } = ending ?? {};
  return { is: "failed", code, message, details: value };
}
