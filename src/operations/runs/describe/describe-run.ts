import { loadHandle, type Values } from "../../../core/binding/bind.ts";
import { collectOfHandle } from "../../../core/binding/values-needed.ts";
import { writeExact } from "../../../core/exact-json.ts";
import type { Handle } from "../../../core/history/run-state.ts";
import { explainHeld, findHeld } from "../../../core/interpreter/attempt/crashes.ts";
import { computeUncertain } from "../../../core/interpreter/budget/paid-calls.ts";
import { resultOf } from "../../../core/interpreter/flow/end-scope.ts";
import { runStatus } from "../../../core/interpreter/run-status.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { RunRecord, RunStatus } from "../../../ports/journal.ts";
import { passTurn } from "../../../ports/turns.ts";
import { boundedUsd, toUsd, toUsdAtMost } from "../../limits/micro-dollars.ts";
import { describeLimits } from "../../limits/use-limits.ts";
import type { ErrorDescription, RunDescription, RunHead, RunSummary, StepDescription } from "../run-schemas.ts";
import { readSizedValue } from "../steps/sized-value.ts";
import { describeEnd, describeError, describeHold } from "./describe-error.ts";
import { describeLineage } from "./describe-lineage.ts";
import { triesOf } from "./describe-run-history.ts";
import { type RunReading, type RunSources, readRunHistory, readValues } from "./describe-run-reading.ts";
import { type StepEntry, stepsInOrder } from "./describe-run-steps.ts";

export interface DescribeOptions {
  /** Load the prompts (default true). */
  readonly withPrompts?: boolean;
  /** Load the outputs of the run and of its steps (default true). */
  readonly withOutputs?: boolean;
  /** List the steps (default true). */
  readonly withSteps?: boolean;
  /** Leave out an input and outputs that are large, and say how large (default false). */
  readonly isSized?: boolean;
}

/** The whole run as JSON. Outputs of large runs are loaded only where they are asked for. */
export async function describeRun(
  sources: RunSources,
  record: RunRecord,
  options: DescribeOptions = {},
): Promise<RunDescription> {
  const reading = await readRunHistory(sources, record);
  const head = await describeHead(reading, options);
  const sized = options.isSized === true ? await describeSizes(sources, reading, options) : {};
  const steps: StepDescription[] = [];
  if (options.withSteps !== false) for await (const step of describeSteps(reading, options)) steps.push(step);
  return { ...head, ...sized, ...(await describeLineage(sources.journal, record)), steps };
}

type Sizes = Pick<RunDescription, "input_data" | "input_bytes" | "outputs" | "outputs_bytes">;

async function describeSizes(sources: RunSources, reading: RunReading, options: DescribeOptions): Promise<Sizes> {
  const read = (handle: Handle) => readSizedValue(sources, reading, { handle, isWhole: false });
  const input = await read(inputOf(reading));
  const outputs = await read(outputsOf(reading, options));
  return {
    input_data: input.value ?? null,
    input_bytes: input.bytes,
    outputs: outputs.value ?? null,
    outputs_bytes: outputs.bytes,
  };
}

function inputOf({ history }: RunReading): Handle {
  return history.state.root?.frame.inputHandle ?? 0;
}

function outputsOf({ history: { state } }: RunReading, { withOutputs = true }: DescribeOptions): Handle {
  return state.phase === "finished" && state.root !== undefined && withOutputs ? resultOf(state.root) : 0;
}

/** Stands in answers that leave something out. */
export const SHORTENED = "Too long for one answer. The CLI shows all of it: pawl runs show RUN_ID --json";

/** Shorter forms of a run that is too long for one answer, the fullest first. */
export function shortenRun(run: RunDescription): readonly object[] {
  const steps = run.steps.map((step) => ({ ...step, output_data: null }));
  const unfinished = steps.filter(({ status }) => status !== "completed").slice(0, 100);
  return [
    { ...run, outputs: null, steps, note: SHORTENED },
    { ...run, outputs: null, input_data: null, steps: unfinished, note: SHORTENED },
  ];
}

/** A run as a list shows it: from its record alone. */
export function summarizeRun(record: RunRecord): RunSummary {
  const describe = record.completedAt === undefined ? describeHold : describeEnd;
  return {
    run_id: record.id,
    workflow_name: record.workflow,
    dialect: record.dialect,
    status: record.status,
    total_cost_usd: toUsd(record.costMicro),
    cost_usd_at_most: toUsdAtMost(record.costMicro, record.uncertainMicro),
    error: record.error === undefined ? null : describe(record.error, { run: record }),
    parent_run_id: record.parentRunId ?? null,
    tenant_id: record.tenantId ?? null,
    created_at: toIsoTime(record.createdAt),
    started_at: toTime(record.startedAt),
    completed_at: toTime(record.completedAt),
  };
}

/** Events count before the record, which may have been read earlier. */
export async function describeHead(reading: RunReading, options: DescribeOptions = {}): Promise<RunHead> {
  const { record, history } = reading;
  const { state } = history;
  const { ending, budget, root } = state;
  const limits = describeLimits(state);
  const hasEnded = state.phase === "finished";
  const outputs = options.isSized === true ? 0 : outputsOf(reading, options);
  const inputHandle = options.isSized === true ? 0 : inputOf(reading);
  const stuck = ending?.code === "NO_TRANSITION" ? findLast(reading) : 0;
  const values = await readHandles(reading, [inputHandle, outputs, stuck]);
  const cause = stuck === 0 ? "" : ` Its output: ${toExcerpt(loadHandle(stuck, values))}`;
  const awaited = hasEnded ? [] : [...state.waiters.keys()];
  return {
    ...summarizeRun(record),
    status: statusOfRun(reading),
    total_cost_usd: toUsd(budget.spentMicro),
    cost_usd_at_most: toUsdAtMost(budget.spentMicro, computeUncertain(budget)),
    ...(budget.unpriced ? { unpriced: true } : {}),
    usage: history.usage,
    ...(limits.length === 0 ? {} : { limits }),
    ...(awaited.length === 0 ? {} : { awaited_events: awaited }),
    error: errorOfRun(reading, cause),
    started_at: root === undefined ? null : toIsoTime(state.startedAt),
    completed_at: toTime(history.finishedAt),
    input_data: loadHandle(inputHandle, values),
    outputs: loadHandle(outputs, values),
  };
}

/** A run that nobody has taken up has only begun. */
export function statusOfRun({ record, history: { state } }: RunReading): RunStatus {
  return record.status === "queued" && state.seq === 1 ? "queued" : runStatus(state);
}

/** Why it has ended so, or why steps of it are held. */
function errorOfRun({ record, history }: RunReading, cause: string): ErrorDescription | null {
  const { state, failures } = history;
  const { ending } = state;
  if (state.phase !== "finished") {
    const held = findHeld(state);
    return held === undefined ? null : describeHold(held, { run: record });
  }
  if (ending?.code === undefined) return null;
  const { code, message = code } = ending;
  const failed = [...failures].find(([, failure]) => failure.code === code && failure.message === message);
  return describeEnd({ code, message: `${message}${cause}` }, { run: record, path: failed?.[0] });
}

/** The output of the step that ended last. */
function findLast({ history }: RunReading): Handle {
  const ended = [...history.steps.values()].flatMap(({ life }) => (life.is === "ended" ? [life] : []));
  return ended.at(-1)?.handle ?? 0;
}

const EXCERPT_CHARS = 600;

function toExcerpt(value: Json): string {
  const text = writeExact(value);
  return text.length <= EXCERPT_CHARS ? text : `${text.slice(0, EXCERPT_CHARS)}...`;
}

/** Outputs may be as large as 16 MiB each: only so many are in memory at once. */
const STEPS_AT_ONCE = 32;

/** The steps one after another, in the order of `stepsInOrder`; holds the values of a few at a time. */
async function* describeSteps(reading: RunReading, options: DescribeOptions = {}): AsyncGenerator<StepDescription> {
  let slice: StepEntry[] = [];
  for (const entry of stepsInOrder(reading.history)) {
    slice.push(entry);
    if (slice.length < STEPS_AT_ONCE) continue;
    yield* await describeSlice(reading, slice, options);
    slice = [];
    await passTurn();
  }
  yield* await describeSlice(reading, slice, options);
}

async function describeSlice(
  reading: RunReading,
  entries: readonly StepEntry[],
  { withPrompts = true, withOutputs = true }: DescribeOptions,
): Promise<readonly StepDescription[]> {
  const handles = entries.map((entry) => ({
    entry,
    prompt: withPrompts ? (entry.history?.inputSeq ?? 0) : 0,
    log: withPrompts && rendersPrompt(entry) ? (entry.history?.logSeq ?? 0) : 0,
    output: withOutputs ? outputOf(entry) : 0,
  }));
  const values = await readHandles(
    reading,
    handles.flatMap(({ prompt, log, output }) => [prompt, log, output]),
  );
  return handles.map(({ entry, prompt, log, output }) => ({
    ...describeEntry(entry, reading),
    input_prompt: renderedIn(loadHandle(log, values)) ?? toPrompt(loadHandle(prompt, values)),
    output_data: loadHandle(output, values),
  }));
}

function describeEntry(entry: StepEntry, reading: RunReading): Omit<StepDescription, "input_prompt" | "output_data"> {
  const { path, step, item, status, history } = entry;
  const isUnpriced = history?.unpriced === true;
  const startedAt = startOf(entry);
  const endedAt = history?.life.is === "ended" && startedAt !== undefined ? history.life.at : undefined;
  return {
    path,
    step_id: step.step.id,
    parallel_index: item < 0 ? null : item,
    status,
    attempt: history === undefined ? 0 : triesOf(history),
    cost_usd: isUnpriced ? null : toUsd(history?.costMicro ?? 0),
    cost_usd_at_most: history === undefined ? 0 : boundedUsd(history),
    ...(isUnpriced ? { unpriced: true } : {}),
    usage: history?.usage ?? {},
    duration_seconds: startedAt === undefined || endedAt === undefined ? null : (endedAt - startedAt) / 1000,
    error: errorOf(entry, reading),
    ...(history === undefined || history.decisions.length === 0 ? {} : { violations: history.decisions }),
    started_at: toTime(startedAt),
    completed_at: toTime(endedAt),
  };
}

/** A task starts when its executor gets it, anything else when its turn has come. */
export function startOf({ history, step }: StepEntry): number | undefined {
  if (history === undefined) return undefined;
  if (step.step.kind !== "task") return history.beganAt;
  const { life } = history;
  return history.startedAt ?? (life.is === "live" && life.instance.attempt > 0 ? life.instance.startedAt : undefined);
}

/** Why it is held, why it failed for good, or why the attempt before failed. */
export function errorOf(
  { path, status, history }: StepEntry,
  { record, history: run }: RunReading,
): ErrorDescription | null {
  const place = { run: record, path };
  if (status === "held" && history?.life.is === "live") return describeError(explainHeld(history.life.instance), place);
  if (status !== "failed" && status !== "retrying") return null;
  const failure = run.failures.get(path) ?? history?.attemptFailure;
  return failure === undefined ? null : describeError(failure, place);
}

export function outputOf({ status, history }: StepEntry): Handle {
  if (status !== "completed") return 0;
  if (history === undefined) return EMPTY_LIST;
  return history.life.is === "ended" ? history.life.handle : 0;
}

/** The output of a fan-out over nothing. */
const EMPTY_LIST: Handle = { kind: "list", handles: [] };

async function readHandles(reading: RunReading, handles: readonly Handle[]): Promise<Values> {
  const seqs = new Set<number>();
  for (const handle of handles) collectOfHandle(handle, seqs);
  return readValues(reading, seqs);
}

/** A model's prompt is made from the input by its executor, which tells it in the log. */
export function rendersPrompt({ step }: StepEntry): boolean {
  return step.step.kind === "task" && step.step.executor === "llm";
}

export function renderedIn(log: Json): string | undefined {
  const events: readonly Json[] = Array.isArray(log) ? log : [];
  const prompted = events.find((event) => isJsonObject(event) && event["type"] === "prompt");
  return isJsonObject(prompted) && typeof prompted["text"] === "string" ? prompted["text"] : undefined;
}

/** People read the prompt of an agent's input, and the whole of any other. */
export function toPrompt(input: Json): string | null {
  if (input === null) return null;
  if (isJsonObject(input) && typeof input["prompt"] === "string") return input["prompt"];
  return typeof input === "string" ? input : writeExact(input);
}

function toTime(at: number | undefined): string | null {
  return at === undefined ? null : toIsoTime(at);
}
