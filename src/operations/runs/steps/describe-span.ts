import { toIsoTime } from "../../../core/iso-time.ts";
import { toUsd } from "../../limits/micro-dollars.ts";
import { describeError } from "../describe/describe-error.ts";
import { errorOf, startOf } from "../describe/describe-run.ts";
import { triesOf } from "../describe/describe-run-history.ts";
import type { RunReading } from "../describe/describe-run-reading.ts";
import type { StepEntry } from "../describe/describe-run-steps.ts";
import type { ErrorDescription, StepStatus } from "../run-schemas.ts";
import { type AttemptSpan, type RunSpans, toRunning, type WaitSpan } from "./run-spans.ts";
import type { StepCosts } from "./step-costs.ts";
import type { FanOutNode, InstanceNode, StepNode, StepNodes } from "./step-nodes.ts";
import type { StepAttempt, StepSpan, StepWait } from "./step-schemas.ts";

/** A run as of some event, with all that spans are described from. */
export interface SpansReading extends RunReading {
  readonly spans: RunSpans;
  readonly nodes: StepNodes;
  readonly costs: StepCosts;
}

export function describeSpan(reading: SpansReading, node: StepNode): StepSpan {
  return node.is === "fan-out" ? describeFanOut(reading, node) : describeInstance(reading, node);
}

function describeInstance(reading: SpansReading, node: InstanceNode): StepSpan {
  const { path, entry } = node;
  const { history, item } = entry;
  const spans = reading.spans.spansOf(path);
  const startedAt = startOf(entry);
  const endedAt = history?.life.is === "ended" ? history.life.at : undefined;
  const called = reading.nodes.calledBy(node);
  return {
    ...describePlace(node, entry.step.step),
    parallel_index: item < 0 ? null : item,
    visit: Number(/#(\d+)(?:\[\d+\])?$/.exec(path)?.[1] ?? 0) || null,
    status: entry.status,
    attempt: history === undefined ? 0 : triesOf(history),
    queued_at: toTime(history?.beganAt),
    ...describeTimes(startedAt, startedAt === undefined ? undefined : endedAt),
    ...reading.costs.of(path),
    usage: history?.usage ?? {},
    error: shorten(errorOf(entry, reading)),
    items: null,
    inside: reading.nodes.countInside(path),
    called: called === undefined ? null : { workflow: called.graph.graph.name, graph: called.graph.hash },
    attempts: attemptsOf(entry, spans?.attempts ?? []).map(describeAttempt),
    waits: spans?.waits.map(describeWait) ?? [],
  };
}

function describeFanOut(reading: SpansReading, node: FanOutNode): StepSpan {
  const { nodes, history, record } = reading;
  const { path, step, visit } = node;
  const counts = new Map<StepStatus, number>();
  let queuedAt: number | undefined;
  let startedAt: number | undefined;
  let endedAt: number | undefined;
  let failed: StepEntry | undefined;
  for (const { entry } of nodes.itemsOf(node)) {
    counts.set(entry.status, (counts.get(entry.status) ?? 0) + 1);
    if (entry.status === "failed") failed ??= entry;
    if (entry.history === undefined) continue;
    queuedAt = Math.min(queuedAt ?? Number.POSITIVE_INFINITY, entry.history.beganAt);
    startedAt = earlier(startedAt, startOf(entry));
    if (entry.history.life.is === "ended") endedAt = Math.max(endedAt ?? 0, entry.history.life.at);
  }
  const failure = history.failures.get(path);
  const error = failure === undefined ? undefined : describeError(failure, { run: record, path });
  const status = failure === undefined ? rollUp(node, counts, nodes.countItems(node)) : "failed";
  return {
    ...describePlace(node, step.step),
    parallel_index: null,
    visit: visit === 0 ? null : visit,
    status,
    attempt: 0,
    queued_at: toTime(queuedAt),
    ...describeTimes(startedAt, GOING_ON.includes(status) ? undefined : endedAt),
    ...reading.costs.of(path),
    usage: {},
    error: shorten(error ?? (failed === undefined ? null : errorOf(failed, reading))),
    items: { total: nodes.countItems(node) ?? null, by_status: Object.fromEntries(counts) },
    inside: 0,
    called: null,
    attempts: [],
    waits: [],
  };
}

type Place = Pick<StepSpan, "path" | "parent" | "step_id" | "kind" | "executor" | "description">;

function describePlace({ path, scope }: StepNode, step: FanOutNode["step"]["step"]): Place {
  return {
    path,
    parent: scope.parent?.path ?? null,
    step_id: step.id,
    kind: step.kind,
    executor: step.kind === "task" ? step.executor : null,
    description: step.description ?? null,
  };
}

/** By how much attention they need. */
const GOING_ON: readonly StepStatus[] = ["held", "awaiting_approval", "retrying", "running", "waiting", "pending"];

function rollUp({ scope }: FanOutNode, counts: ReadonlyMap<StepStatus, number>, total: number | undefined): StepStatus {
  if (total === undefined) return scope.phase === "open" ? "pending" : "skipped";
  const all = [...counts.values()].reduce((sum, each) => sum + each, 0);
  for (const status of GOING_ON) {
    if (!counts.has(status)) continue;
    return status === "pending" && counts.get(status) !== all ? "running" : status;
  }
  if (counts.has("failed")) return "failed";
  if (counts.has("cancelled")) return "cancelled";
  return all > 0 && counts.get("skipped") === all ? "skipped" : "completed";
}

/** As they are described. An attempt whose start is not yet on record has begun all the same. */
export function attemptsOf({ history, step }: StepEntry, recorded: readonly AttemptSpan[]): readonly AttemptSpan[] {
  if (history?.life.is !== "live" || step.step.kind !== "task") return recorded;
  const { attempt, phase, startedAt } = history.life.instance;
  if (phase !== "dispatched" || recorded.at(-1)?.attempt === attempt) return recorded;
  return [...recorded, toRunning({ attempt, queuedAt: startedAt, startedAt })];
}

export function describeAttempt(span: AttemptSpan): StepAttempt {
  return {
    attempt: span.attempt,
    status: span.status,
    queued_at: toIsoTime(span.queuedAt),
    started_at: toTime(span.startedAt),
    waited_seconds: span.waitedMs / 1000,
    ended_at: toTime(span.endedAt),
    error_code: span.failure?.code ?? null,
    cost_usd: span.unpriced ? null : toUsd(span.costMicro),
    usage: span.usage,
    ...(span.reusedFrom === undefined ? {} : { reused_from: span.reusedFrom }),
  };
}

function describeWait({ kind, since, until, wakeAt, event }: WaitSpan): StepWait {
  return {
    kind,
    since: toIsoTime(since),
    until: toTime(until),
    wake_at: toTime(wakeAt),
    ...(event === undefined ? {} : { event }),
  };
}

function describeTimes(
  startedAt: number | undefined,
  endedAt: number | undefined,
): Pick<StepSpan, "started_at" | "completed_at" | "duration_seconds"> {
  const seconds = startedAt === undefined || endedAt === undefined ? null : (endedAt - startedAt) / 1000;
  return { started_at: toTime(startedAt), completed_at: toTime(endedAt), duration_seconds: seconds };
}

const MESSAGE_CHARS = 2_000;

function shorten(error: ErrorDescription | null): ErrorDescription | null {
  if (error === null || error.message.length <= MESSAGE_CHARS) return error;
  return { ...error, message: `${error.message.slice(0, MESSAGE_CHARS)}...` };
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function toTime(at: number | undefined): string | null {
  return at === undefined ? null : toIsoTime(at);
}
