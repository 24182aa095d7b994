import { writeExact } from "../../../core/exact-json.ts";
import type { Handle } from "../../../core/history/run-state.ts";
import { findHeld } from "../../../core/interpreter/attempt/crashes.ts";
import { computeUncertain } from "../../../core/interpreter/budget/paid-calls.ts";
import { resultOf } from "../../../core/interpreter/flow/end-scope.ts";
import { isParked, runStatus } from "../../../core/interpreter/run-status.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { RunRecord, RunStatus } from "../../../ports/journal.ts";
import { neededPrograms } from "../../../ports/step-functions.ts";
import { passTurn } from "../../../ports/turns.ts";
import { toUsd, toUsdAtMost } from "../../limits/micro-dollars.ts";
import { describeLimits } from "../../limits/use-limits.ts";
import type { ErrorDescription, RunDescription, RunHead, RunSummary, StepDescription } from "../run-schemas.ts";
import { describeEnd, describeError, describeHold } from "./describe-error.ts";
import { describeLineage } from "./describe-lineage.ts";
import {
  type Room,
  type RunReading,
  type RunSources,
  readRunHistory,
  readSized,
  roomFor,
  type SizedValue,
} from "./describe-run-reading.ts";
import { describeStep, errorOf, toTime } from "./describe-step.ts";
import { type StepEntry, StepTree } from "./step-tree.ts";

export interface DescribeOptions {
  /** Load the prompts (default true). */
  readonly withPrompts?: boolean;
  /** Load the outputs of the run and of its steps (default true). */
  readonly withOutputs?: boolean;
  /** List the steps (default true). */
  readonly withSteps?: boolean;
  /** Larger values are left out, with their address in their place (default 64 KiB). */
  readonly mostBytes?: number | undefined;
}

/** The whole run as JSON. Outputs of large runs are loaded only where they are asked for. */
export async function describeRun(
  sources: RunSources,
  record: RunRecord,
  options: DescribeOptions = {},
): Promise<RunDescription> {
  const reading = await readRunHistory(sources, record);
  const head = await describeHead(reading, options);
  const steps: StepDescription[] = [];
  if (options.withSteps !== false) for await (const step of describeSteps(reading, options)) steps.push(step);
  return { ...head, ...(await describeLineage(sources.journal, record)), steps };
}

function outputsOf({ history: { state } }: RunReading, { withOutputs = true }: DescribeOptions): Handle {
  return state.phase === "finished" && state.root !== undefined && withOutputs ? resultOf(state.root) : 0;
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
  const handles = {
    input: 1,
    outputs: outputsOf(reading, options),
    stuck: ending?.code === "NO_TRANSITION" ? findLast(reading) : 0,
  };
  const load = await readSized(reading, Object.values(handles), roomFor(options.mostBytes));
  const input = load(handles.input);
  const outputs = load(handles.outputs);
  const { value: last } = load(handles.stuck);
  const cause = handles.stuck === 0 || last === undefined ? "" : ` Its output: ${toExcerpt(last)}`;
  const ref = `/runs/${record.id}?whole=true&steps=false&prompts=false`;
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
    ...(history.missing === undefined ? {} : { missing: [...history.missing] }),
    error: errorOfRun(reading, cause) ?? (await findUndriven(reading)),
    ...(hasEnded && ending?.code !== undefined ? { failed_path: findFailed(reading)?.path ?? null } : {}),
    started_at: root === undefined ? null : toIsoTime(state.startedAt),
    completed_at: toTime(history.finishedAt),
    input_data: input.value ?? null,
    outputs: outputs.value ?? null,
    ...(input.value === undefined ? { input_bytes: input.bytes, input_ref: ref } : {}),
    ...(outputs.value === undefined ? { outputs_bytes: outputs.bytes, outputs_ref: ref } : {}),
  };
}

/** A run that nobody has taken up has only begun. */
export function statusOfRun({ record, history: { state } }: RunReading): RunStatus {
  return record.status === "queued" && state.seq === 1 ? "queued" : runStatus(state);
}

/** Why it has ended so, or why steps of it are held. */
function errorOfRun({ record, history }: RunReading, cause: string): ErrorDescription | null {
  const { state } = history;
  const { ending } = state;
  if (state.phase !== "finished") {
    const held = findHeld(state);
    if (held !== undefined) return describeHold(held, { run: record });
    const lacking = [...history.steps.values()].find(({ status, lacks }) => status === "held" && lacks !== undefined);
    return lacking?.failure === undefined ? null : describeError(lacking.failure, { run: record });
  }
  if (ending?.code === undefined) return null;
  const { code, message = code } = ending;
  const path = findFailed({ history })?.path;
  return describeEnd({ code, message: `${message}${cause}` }, { run: record, path });
}

/** A run that needs workflows of programs, of which no process has them. */
async function findUndriven({ record, sources, history: { state } }: RunReading): Promise<ErrorDescription | null> {
  const { journal } = sources;
  const graph = state.root?.frame.graph.graph;
  if (graph === undefined || state.phase === "finished" || isParked(state)) return null;
  if (graph.dialect !== "typescript" && graph.programs === undefined) return null;
  if (journal.isDriven === undefined || (await journal.isDriven(record.no))) return null;
  const needed = neededPrograms({ text: (await journal.readPinned(record.definition)) ?? "", graph });
  if (needed.length === 0) return null;
  const named = needed.map((name) => `\`${name}\``).join(" and ");
  const message = `No process drives the run: none that is there has the workflow ${named} of the program that began it.`;
  return describeError({ code: "PROGRAM_MISSING", message }, { run: record });
}

/** The step whose failure has ended the run. */
function findFailed({ history: { state } }: Pick<RunReading, "history">) {
  const { code, message = code } = state.ending ?? {};
  return state.failures.find((failure) => failure.code === code && failure.message === message);
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

/** The steps one after another; holds the values of a few at a time. */
async function* describeSteps(reading: RunReading, given: DescribeOptions): AsyncGenerator<StepDescription> {
  const options = { ...given, room: roomFor(given.mostBytes) };
  let slice: StepEntry[] = [];
  for (const entry of new StepTree(reading.history).entries()) {
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
  { withPrompts = true, withOutputs = true, room }: DescribeOptions & { readonly room: Room },
): Promise<readonly StepDescription[]> {
  const handles = entries.map((entry) => ({
    entry,
    given: withPrompts ? (entry.history?.inputSeq ?? 0) : 0,
    log: withPrompts ? promptLogOf(entry) : 0,
    output: withOutputs ? entry.output : 0,
  }));
  const all = handles.flatMap(({ given, log, output }) => [given, log, output]);
  const load = await readSized(reading, all, room);
  return handles.map(({ entry, given, log, output }) => ({
    ...describeStep(entry),
    ...(entry.history?.unpriced === true ? { unpriced: true } : {}),
    error: errorOf(entry, reading.record),
    ...(entry.history === undefined || entry.history.missing.length === 0 ? {} : { missing: entry.history.missing }),
    ...(entry.history === undefined || entry.history.decisions.length === 0
      ? {}
      : { violations: entry.history.decisions }),
    ...showValues(load, { given, log, output, ref: addressOf(reading, entry) }),
  }));
}

interface OfStep {
  readonly given: Handle;
  readonly log: Handle;
  readonly output: Handle;
  readonly ref: string;
}

function showValues(load: (handle: Handle) => SizedValue, { given, log, output, ref }: OfStep) {
  const gave = load(output);
  const said = renderedIn(load(log).value ?? null);
  const asked = said === undefined ? load(given) : undefined;
  return {
    input_prompt: said ?? toPrompt(asked?.value ?? null),
    ...(asked !== undefined && asked.value === undefined ? { prompt_bytes: asked.bytes, prompt_ref: ref } : {}),
    output_data: gave.value ?? null,
    ...(gave.value === undefined ? { output_bytes: gave.bytes, output_ref: ref } : {}),
  };
}

/** Where a step is shown with values of any size. */
function addressOf({ record }: RunReading, { path }: StepEntry): string {
  return `/runs/${record.id}/steps/${encodeURIComponent(path)}?whole=true`;
}

/** A model's prompt is made from the input by its executor, which tells it in the log. */
export function promptLogOf({ step: { step }, history }: StepEntry): Handle {
  return step.kind === "task" && step.executor === "llm" ? (history?.logSeq ?? 0) : 0;
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
