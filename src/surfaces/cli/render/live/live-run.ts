import type { Graph } from "../../../../core/graph/graph.ts";
import { type IndexedFlow, indexGraph } from "../../../../core/graph/indexed-graph.ts";
import type { Event } from "../../../../core/history/events.ts";
import type { Instance, Scope } from "../../../../core/history/run-state.ts";
import { runStatus } from "../../../../core/interpreter/run-status.ts";
import { isJsonObject, type Json } from "../../../../core/json.ts";
import {
  type HistoryChange,
  RunHistory,
  type StepHistory,
} from "../../../../operations/runs/describe/describe-run-history.ts";
import { LiveLine } from "./live-line.ts";

/** What a live view is told: the host's `RunNotice` is one. */
export type LiveNotice =
  /** `graph`: of a `callResolved`, the graph that it names. */
  | { readonly type: "event"; readonly seq: number; readonly event: Event; readonly graph?: Graph }
  | { readonly type: "dispatched"; readonly path: string; readonly attempt: number; readonly at: number }
  | { readonly type: "progress"; readonly path: string; readonly attempt: number; readonly event: Json }
  | { readonly type: "live"; readonly path: string; readonly attempt: number; readonly event: Json }
  | { readonly type: "parked" }
  | { readonly type: "stalled"; readonly code: string; readonly message: string }
  | { readonly type: "unstalled" };

export interface LiveRunId {
  readonly run_id: string;
  readonly workflow_name: string;
}

/** A server that takes no more calls at once. */
export interface ShownWait {
  readonly pool: string;
  readonly inFlight: number;
  readonly width: number;
  /** Calls of this run. */
  readonly waiting: number;
  readonly waitingInAll: number;
  /** The server refuses all calls, and is asked again at this time; milliseconds since the epoch. */
  readonly closedUntil: number | undefined;
}

/** A call that has failed and is sent again. */
export interface ShownRetry {
  readonly host: string;
  readonly cause: string;
  /** Milliseconds since the epoch. */
  readonly againAt: number;
}

const UNCHANGED: HistoryChange = { began: [], ended: [] };

/**
 * A run as it is shown while it goes on: folds the same events as the core, from the first one. Events may come twice (from
 * the journal and from the host). Where one is missing it loses track and says so, and the run does not suffer.
 */
export class LiveRun {
  readonly run: LiveRunId;
  readonly history: RunHistory;
  /** Of the root flow, in its order. */
  readonly lines: readonly LiveLine[];
  readonly questions = new Map<string, { readonly message: string; readonly at: number }>();
  readonly #linesOf = new Map<Scope, readonly LiveLine[]>();
  /** By the name of the pool. */
  readonly waits = new Map<string, ShownWait>();
  /** By the path of the step whose call it is. */
  readonly retries = new Map<string, ShownRetry>();
  /** What agents said or called last, by the paths of their steps, the latest at the end. */
  readonly doing = new Map<string, string>();
  /** Tries that wait for what others may leave of the budget. */
  waitingForBudget = 0;
  isParked = false;
  isLost = false;
  stalled: { readonly code: string; readonly message: string } | undefined;

  constructor(graph: Graph, run: LiveRunId) {
    this.run = run;
    const indexed = indexGraph(graph, "");
    this.history = new RunHistory(indexed);
    this.lines = toLines(indexed.root, 0);
  }

  get status(): string {
    if (this.history.state.phase === "finished") return runStatus(this.history.state);
    return this.isParked ? "parked" : runStatus(this.history.state);
  }

  apply(notice: LiveNotice): HistoryChange {
    switch (notice.type) {
      case "event":
        return this.#tryEvent(notice);
      case "parked":
        this.isParked = true;
        return UNCHANGED;
      case "stalled":
        this.stalled = { code: notice.code, message: notice.message };
        return UNCHANGED;
      case "unstalled":
        this.stalled = undefined;
        return UNCHANGED;
      case "live":
        this.#noteWait(notice.event);
        this.#noteRetry(notice.path, notice.event);
        this.#noteDoing(notice.path, notice.event);
        return UNCHANGED;
      case "dispatched":
        this.#forget(notice.path);
        return UNCHANGED;
      case "progress":
        this.#noteDoing(notice.path, notice.event);
        return UNCHANGED;
    }
  }

  #forget(path: string): void {
    this.retries.delete(path);
    this.doing.delete(path);
  }

  #noteDoing(path: string, event: Json): void {
    const doing = readDoing(event, this.doing.get(path));
    if (doing === undefined) return;
    this.doing.delete(path);
    this.doing.set(path, doing);
  }

  #noteWait(event: Json): void {
    if (!isJsonObject(event)) return;
    if (event["type"] === "budget") this.waitingForBudget = Number(event["waiting"]);
    if (event["type"] !== "capacity") return;
    const { pool, in_flight: inFlight, width, waiting, closed_until: until, waiting_in_all: all } = event;
    const name = String(pool);
    this.waits.delete(name);
    if (Number(waiting) === 0) return;
    const closedUntil = typeof until === "string" ? Date.parse(until) : undefined;
    const counts = { inFlight: Number(inFlight), width: Number(width), waiting: Number(waiting) };
    const waitingInAll = typeof all === "number" ? all : counts.waiting;
    this.waits.set(name, { pool: name, ...counts, waitingInAll, closedUntil });
  }

  /** Whatever else the step does: its call has been answered. */
  #noteRetry(path: string, event: Json): void {
    if (!isJsonObject(event) || event["type"] === "capacity" || event["type"] === "budget") return;
    this.retries.delete(path);
    if (event["type"] !== "retry") return;
    const { host, cause, again_at: againAt } = event;
    this.retries.set(path, { host: String(host), cause: String(cause), againAt: Date.parse(String(againAt)) });
  }

  lineOf({ scope, step }: Pick<Instance, "scope" | "step">): LiveLine | undefined {
    return this.#linesOfScope(scope)?.[step.index];
  }

  /** A picture that cannot be drawn is no reason for a run to end. */
  #tryEvent(notice: Extract<LiveNotice, { type: "event" }>): HistoryChange {
    try {
      return this.#applyEvent(notice);
    } catch {
      this.isLost = true;
      return UNCHANGED;
    }
  }

  #applyEvent({ seq, event, graph }: Extract<LiveNotice, { type: "event" }>): HistoryChange {
    const { state } = this.history;
    if (this.isLost || seq <= state.seq) return UNCHANGED;
    if (event.type === "callResolved" && graph !== undefined) {
      state.graphs.set(event.graph, indexGraph(graph, event.graph));
    }
    const isKnown = event.type !== "callResolved" || state.graphs.has(event.graph);
    this.isLost = seq > state.seq + 1 || !isKnown;
    if (this.isLost) return UNCHANGED;
    if (event.type === "approvalAsked") this.questions.set(event.path, { message: event.message, at: event.at });
    const change = this.history.apply(event);
    if (state.root !== undefined) this.#linesOfScope(state.root);
    for (const began of change.began) this.lineOf(began)?.begin(began);
    for (const ended of change.ended) this.#end(ended);
    if (event.type === "stepFailed") this.#noteFailedAttempt(event.path, event);
    return change;
  }

  #end(ended: StepHistory): void {
    this.#forget(ended.path);
    const line = this.lineOf(ended);
    if (line === undefined) return;
    line.end(ended);
    const failure = this.history.failures.get(ended.path);
    if (failure !== undefined) line.lastFailure = failure;
  }

  #noteFailedAttempt(path: string, failure: { readonly code: string; readonly message: string }): void {
    const history = this.history.steps.get(path);
    const line = history === undefined ? undefined : this.lineOf(history);
    if (line !== undefined && history?.life.is === "live") line.lastFailure = failure;
  }

  #linesOfScope(scope: Scope): readonly LiveLine[] | undefined {
    const known = this.#linesOf.get(scope);
    if (known !== undefined) return known;
    const lines = scope.parent === undefined ? this.lines : this.#innerLines(scope, scope.parent);
    if (lines === undefined) return undefined;
    this.#linesOf.set(scope, lines);
    for (const line of lines) line.scopes.add(scope);
    return lines;
  }

  #innerLines({ flow }: Scope, parent: Instance): readonly LiveLine[] | undefined {
    const outer = this.lineOf(parent);
    const lines = outer?.inner.get(flow) ?? (outer === undefined ? undefined : toLines(flow, outer.depth + 1));
    if (lines !== undefined) outer?.inner.set(flow, lines);
    return lines;
  }
}

/** A nested flow is shown from the beginning; what else runs inside a step when it does. */
function toLines(flow: IndexedFlow, depth: number, around?: LiveLine): readonly LiveLine[] {
  return flow.steps.map((step) => {
    const line = new LiveLine(step, depth, around);
    if (step.body !== undefined) line.inner.set(step.body, toLines(step.body, depth + 1, line));
    return line;
  });
}

const MAX_CHARS = 200;

/**
 * What an agent does by one of its events: the tool that it calls, or the end of what it says. `before`: what it did until
 * then, which a piece of text goes on with. Undefined: the event says nothing of it.
 */
function readDoing(event: Json, before: string | undefined): string | undefined {
  if (!isJsonObject(event)) return undefined;
  const { type, name, text, message } = event;
  if (type === "tool_call" && typeof name === "string") return toCall(name);
  if (type === "text" && typeof text === "string")
    return endOf(before?.startsWith(CALLS) === false ? before + text : text);
  if (type !== "assistant" || !isJsonObject(message) || !Array.isArray(message["content"])) return undefined;
  const blocks: readonly Json[] = message["content"];
  return blocks.map(readBlock).findLast((doing) => doing !== undefined);
}

const CALLS = "calls ";

function toCall(name: string): string {
  return `${CALLS}${name}`;
}

function readBlock(block: Json): string | undefined {
  if (!isJsonObject(block)) return undefined;
  const { type, name, text } = block;
  if (type === "tool_use" && typeof name === "string") return toCall(name);
  return type === "text" && typeof text === "string" && text.trim() !== "" ? endOf(text) : undefined;
}

function endOf(text: string): string {
  return text.slice(-MAX_CHARS);
}
