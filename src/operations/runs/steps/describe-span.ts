import { toIsoTime } from "../../../core/iso-time.ts";
import { toUsd } from "../../limits/micro-dollars.ts";
import type { RunHistory } from "../describe/describe-run-history.ts";
import type { RunReading } from "../describe/describe-run-reading.ts";
import { type Costs, describeCosts, describeStep, describeTimes, errorOf, toTime } from "../describe/describe-step.ts";
import type { Attempt, StepHistory, Wait } from "../describe/step-history.ts";
import type { FanOut, StepEntry, StepNode, StepTree } from "../describe/step-tree.ts";
import type { ErrorDescription, StepStatus } from "../run-schemas.ts";
import type { StepAttempt, StepSpan, StepWait } from "./step-schemas.ts";

/** A run as of some event, with all that spans are described from. */
export interface SpansReading extends RunReading {
  readonly tree: StepTree;
  /** What each instance and each fan-out has cost with all that is inside it, by path. */
  readonly costs: ReadonlyMap<string, Costs>;
}

export function describeSpan(reading: SpansReading, node: StepNode): StepSpan {
  return node.is === "fan-out" ? describeFanOut(reading, node) : describeInstance(reading, node);
}

function describeInstance({ record, tree, costs }: SpansReading, entry: StepEntry): StepSpan {
  const { path, history } = entry;
  const called = tree.calledBy(entry);
  return {
    ...describeStep(entry),
    ...describePlace(entry),
    ...describeCosts(costs.get(path)),
    visit: Number(/#(\d+)(?:\[\d+\])?$/.exec(path)?.[1] ?? 0) || null,
    queued_at: toTime(history?.beganAt),
    error: shorten(errorOf(entry, record)),
    items: null,
    inside: tree.countInside(path),
    called: called === undefined ? null : { workflow: called.graph.graph.name, graph: called.graph.hash },
    attempts: history?.begunAttempts.map(describeAttempt) ?? [],
    waits: history?.waits.map(describeWait) ?? [],
  };
}

function describeFanOut({ record, tree, costs }: SpansReading, node: FanOut): StepSpan {
  const { path, visit, items } = node;
  const counts = new Map<StepStatus, number>();
  let queuedAt = Number.POSITIVE_INFINITY;
  let startedAt = Number.POSITIVE_INFINITY;
  let endedAt = 0;
  let failed: StepEntry | undefined;
  for (const item of tree.itemsOf(node)) {
    counts.set(item.status, (counts.get(item.status) ?? 0) + 1);
    if (item.status === "failed") failed ??= item;
    if (item.history === undefined) continue;
    queuedAt = Math.min(queuedAt, item.history.beganAt);
    startedAt = Math.min(startedAt, item.history.startedAt ?? startedAt);
    if (item.history.life.is === "ended") endedAt = Math.max(endedAt, item.history.life.at);
  }
  const failure = tree.failureOf(node);
  const status = failure === undefined ? rollUp(node, counts) : "failed";
  const isOver = !GOING_ON.includes(status);
  return {
    ...describePlace(node),
    parallel_index: null,
    visit: visit === 0 ? null : visit,
    status,
    attempt: 0,
    queued_at: toTime(known(queuedAt)),
    ...describeTimes(known(startedAt), isOver ? endedAt : undefined),
    ...describeCosts(costs.get(path)),
    usage: {},
    error: shorten(errorOf(failure === undefined && failed !== undefined ? failed : { path, failure }, record)),
    items: { total: items ?? null, by_status: Object.fromEntries(counts) },
    inside: 0,
    called: null,
    attempts: [],
    waits: [],
  };
}

type Place = Pick<StepSpan, "path" | "parent" | "step_id" | "kind" | "executor" | "description">;

function describePlace({ path, scope, step: { step } }: StepNode): Place {
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

function rollUp({ scope, items }: FanOut, counts: ReadonlyMap<StepStatus, number>): StepStatus {
  if (items === undefined) return scope.phase === "open" ? "pending" : "skipped";
  for (const status of GOING_ON) {
    if (!counts.has(status)) continue;
    return status === "pending" && counts.get(status) !== items ? "running" : status;
  }
  if (counts.has("failed")) return "failed";
  if (counts.has("cancelled")) return "cancelled";
  return items > 0 && counts.get("skipped") === items ? "skipped" : "completed";
}

export function describeAttempt(span: Attempt): StepAttempt {
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

function describeWait({ kind, since, until, wakeAt, event }: Wait): StepWait {
  return {
    kind,
    since: toIsoTime(since),
    until: toTime(until),
    wake_at: toTime(wakeAt),
    ...(event === undefined ? {} : { event }),
  };
}

const MESSAGE_CHARS = 2_000;

function shorten(error: ErrorDescription | null): ErrorDescription | null {
  if (error === null || error.message.length <= MESSAGE_CHARS) return error;
  return { ...error, message: `${error.message.slice(0, MESSAGE_CHARS)}...` };
}

function known(at: number): number | undefined {
  return Number.isFinite(at) ? at : undefined;
}

export function sumCosts(history: RunHistory): ReadonlyMap<string, Costs> {
  const sums = new Map<string, Costs>();
  const add = (path: string, { costMicro, uncertainMicro, unbounded, unpriced }: Costs) => {
    const sum = sums.get(path);
    sums.set(path, {
      costMicro: costMicro + (sum?.costMicro ?? 0),
      uncertainMicro: uncertainMicro + (sum?.uncertainMicro ?? 0),
      unbounded: unbounded + (sum?.unbounded ?? 0),
      unpriced: unpriced || sum?.unpriced === true,
    });
  };
  for (const step of history.steps.values()) {
    const { costMicro, uncertainMicro, unbounded, unpriced } = step;
    if (costMicro + uncertainMicro + unbounded === 0 && !unpriced) continue;
    const cost = { costMicro, uncertainMicro, unbounded, unpriced };
    let at: Pick<StepHistory, "path" | "item" | "scope"> | undefined = step;
    for (; at !== undefined; at = at.scope.parent) {
      add(at.path, cost);
      if (at.item >= 0) add(at.path.slice(0, at.path.lastIndexOf("[")), cost);
    }
  }
  return sums;
}
