import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import { resultOf } from "../../core/interpreter/flow/end-scope.ts";
import type { Json } from "../../core/json.ts";
import type { SettledRun } from "../../hosts/run-host.ts";
import type { RunRecord } from "../../ports/journal.ts";
import {
  type HistoryWanted,
  openValues,
  type RunReading,
  type RunSources,
  readHandles,
  readRunHistory,
} from "./describe/describe-run-reading.ts";
import type { Attempt } from "./describe/step-history.ts";

/** The metrics of a run, in the words of the sandbox protocol. */
export interface RunMetrics {
  readonly run_id: string;
  readonly execution_time_ms: number;
  /** Tools and models, in the order of their first call. */
  readonly mcp_calls: readonly ToolMetrics[];
}

interface ToolMetrics {
  readonly tool: string;
  readonly count: number;
  readonly total_duration_ms: number;
  readonly token_usage?: { readonly prompt: number; readonly completion: number };
}

/** How a run has ended, for whoever asked for it. */
export interface RunResult {
  readonly record: RunRecord;
  readonly outcome:
    | { readonly is: "completed"; readonly output: Json }
    | {
        readonly is: "failed";
        readonly code: string;
        readonly message: string;
        readonly details: Json;
        /** A `fail` of the workflow's author says so, for whoever asked. */
        readonly isSaid: boolean;
      };
  readonly metrics: RunMetrics;
  /** The whole reading, for whoever wants to tell more. */
  readonly reading: RunReading;
}

/** The result of a run that has ended. `graphs` keeps those that were read, for runs of the same workflow. */
export async function readRunResult(
  sources: RunSources,
  record: RunRecord,
  wanted?: Pick<HistoryWanted, "graphs" | "noteWay">,
): Promise<RunResult> {
  const reading = await readRunHistory(sources, record, wanted);
  const { startedAt = record.createdAt, completedAt = startedAt } = record;
  const metrics = { run_id: record.id, execution_time_ms: completedAt - startedAt, mcp_calls: sumTools(reading) };
  return { record, outcome: await readOutcome(reading), metrics, reading };
}

/** Without metrics: where the host has said where the output is, no event is read for it. */
export async function readRunOutcome(
  sources: RunSources,
  { output, ...record }: SettledRun,
  graphs: Map<string, IndexedGraph>,
): Promise<RunResult["outcome"]> {
  if (output === undefined) return (await readRunResult(sources, record, { graphs })).outcome;
  const load = await readHandles({ values: openValues(sources, record.no) }, [output]);
  return { is: "completed", output: load(output) };
}

const MODEL_TOOL = "core.llm.generate";

/** Adds up what the attempts of a run tell about tools and models. */
function sumTools({ history }: RunReading): readonly ToolMetrics[] {
  const attempts = [...history.steps.values()].flatMap((step) => step.attempts);
  const tools = new Map<string, ToolMetrics>();
  for (const attempt of attempts.sort((a, b) => a.endSeq - b.endSeq)) {
    const { tool, model } = attempt.usage;
    const name = typeof tool === "string" ? tool : typeof model === "string" ? MODEL_TOOL : undefined;
    if (name !== undefined && attempt.reusedFrom === undefined)
      tools.set(name, addAttempt(name, tools.get(name), attempt));
  }
  return [...tools.values()];
}

function addAttempt(
  tool: string,
  { count = 0, total_duration_ms = 0, token_usage }: Partial<ToolMetrics> = {},
  { usage, endedAt = 0, startedAt = endedAt }: Attempt,
): ToolMetrics {
  const { calls, duration_ms: ms = endedAt - startedAt, input_tokens: prompt, output_tokens: completion } = usage;
  const hasTokens = typeof prompt === "number" || typeof completion === "number" || token_usage !== undefined;
  const tokens = {
    prompt: toCount(prompt) + (token_usage?.prompt ?? 0),
    completion: toCount(completion) + (token_usage?.completion ?? 0),
  };
  return {
    tool,
    count: count + (typeof calls === "number" ? calls : 1),
    total_duration_ms: total_duration_ms + toCount(ms),
    ...(hasTokens ? { token_usage: tokens } : {}),
  };
}

function toCount(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** A run that was `partial` has reached its end: what it has is its output. */
async function readOutcome(reading: RunReading): Promise<RunResult["outcome"]> {
  const { root, ending } = reading.history.state;
  const hasFailed = ending?.status !== "completed" && ending?.status !== "partial";
  const handle = root === undefined || hasFailed ? (root?.failure?.seq ?? 0) : resultOf(root);
  const value = (await readHandles(reading, [handle]))(handle);
  if (root !== undefined && !hasFailed) return { is: "completed", output: value };
  const { code = "STEP_FAILED", message = "The run has failed." } = ending ?? {};
  const isSaid = [...reading.history.steps.values()].some(
    ({ step: { step }, failure }) =>
      step.kind === "task" && step.executor === "fail" && failure?.code === code && failure.message === message,
  );
  return { is: "failed", code, message, details: value, isSaid };
}
