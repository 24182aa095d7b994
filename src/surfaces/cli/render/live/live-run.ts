import type { Graph } from "../../../../core/graph/graph.ts";
import { indexGraph } from "../../../../core/graph/indexed-graph.ts";
import type { Event } from "../../../../core/history/events.ts";
import { isJsonObject, type Json } from "../../../../core/json.ts";
import { type HistoryChange, RunHistory } from "../../../../operations/runs/describe/describe-run-history.ts";
import { sanitize } from "../text/sanitize.ts";
import { type ShownRetry, type ShownWait, showBudgetWait, showLine, showWait } from "../text/show-wait.ts";

/** What a live view is told: the host's `RunNotice` is one. */
export type LiveNotice =
  /** `graph`: of a `callResolved`, the graph that it names. */
  | { readonly type: "event"; readonly seq: number; readonly event: Event; readonly graph?: Graph }
  | { readonly type: "dispatched"; readonly path: string; readonly attempt: number; readonly at: number }
  | { readonly type: "progress"; readonly path: string; readonly attempt: number; readonly event: Json }
  | { readonly type: "live"; readonly path: string; readonly attempt: number; readonly event: Json }
  | { readonly type: "parked" }
  | { readonly type: "stalled"; readonly code: string; readonly message: string }
  | { readonly type: "unstalled" }
  /** The run may be held up without an event. */
  | { readonly type: "late"; readonly at: number };

/** A run that has its place so soon says nothing of the line. */
const SOON_MS = 500;

/**
 * A run as it is shown while it goes on: folds the same events as the core, from the first one. Events may come twice (from
 * the journal and from the host). Where one is missing it loses track and says so, and the run does not suffer.
 */
export class LiveRun {
  readonly history: RunHistory;
  /** By the path of the step whose call it is. */
  readonly retries = new Map<string, ShownRetry>();
  /** What an agent said or called last. */
  doing: { readonly path: string; readonly text: string } | undefined;
  /** By the name of the pool. */
  readonly #waits = new Map<string, ShownWait>();
  /** Tries that wait for what others may leave of the budget. */
  #waitingForBudget = 0;
  #isLost = false;
  #stalled: { readonly code: string; readonly message: string } | undefined;

  constructor(graph: Graph) {
    this.history = new RunHistory(indexGraph(graph, ""));
  }

  /** Undefined: the notice is no event, or one that changes nothing here. */
  apply(notice: LiveNotice): HistoryChange | undefined {
    if (notice.type === "event") return this.#tryEvent(notice);
    if (notice.type === "stalled") this.#stalled = notice;
    if (notice.type === "unstalled") this.#stalled = undefined;
    if (notice.type === "dispatched") this.#forget(notice.path);
    if (notice.type === "live") this.#noteLive(notice.path, notice.event);
    if (notice.type === "live" || notice.type === "progress") this.#noteDoing(notice.path, notice.event);
    return undefined;
  }

  /** What holds the run up now, each by what it is. */
  notes(now: number): ReadonlyMap<string, string> {
    const notes = new Map<string, string>();
    if (this.#stalled !== undefined) {
      const { code, message } = this.#stalled;
      notes.set(code, `nothing can be written, the run stands still: ${code} ${sanitize(message)}`);
    }
    for (const [pool, wait] of this.#waits) notes.set(`pool ${pool}`, showWait(wait, now));
    const { queued } = this.history.state;
    if (queued !== undefined && now - queued.at >= SOON_MS) {
      const line = showLine(this.history.state);
      notes.set(line, line);
    }
    if (this.#waitingForBudget > 0) notes.set("budget", showBudgetWait(this.#waitingForBudget));
    if (this.#isLost) notes.set("lost", "This view has missed something; see the run with `pawl runs show`.");
    return notes;
  }

  #forget(path: string): void {
    this.retries.delete(path);
    if (this.doing?.path === path) this.doing = undefined;
  }

  #noteLive(path: string, event: Json): void {
    if (!isJsonObject(event)) return;
    if (event["type"] === "budget") this.#waitingForBudget = Number(event["waiting"]);
    else if (event["type"] === "capacity") this.#noteWait(event);
    else this.#noteRetry(path, event);
  }

  #noteWait(event: Readonly<Record<string, Json>>): void {
    const { pool, in_flight: inFlight, width, waiting, closed_until: until, waiting_in_all: all } = event;
    const name = String(pool);
    this.#waits.delete(name);
    if (Number(waiting) === 0) return;
    const closedUntil = typeof until === "string" ? Date.parse(until) : undefined;
    const counts = { inFlight: Number(inFlight), width: Number(width), waiting: Number(waiting) };
    const waitingInAll = typeof all === "number" ? all : counts.waiting;
    this.#waits.set(name, { pool: name, ...counts, waitingInAll, closedUntil });
  }

  /** Whatever else the step does: its call has been answered. */
  #noteRetry(path: string, { type, host, cause, again_at: againAt }: Readonly<Record<string, Json>>): void {
    this.retries.delete(path);
    if (type !== "retry") return;
    this.retries.set(path, { host: String(host), cause: String(cause), againAt: Date.parse(String(againAt)) });
  }

  #noteDoing(path: string, event: Json): void {
    const text = readDoing(event, this.doing?.path === path ? this.doing.text : "");
    if (text !== undefined) this.doing = { path, text };
  }

  /** A view that cannot follow is no reason for a run to end. */
  #tryEvent(notice: Extract<LiveNotice, { type: "event" }>): HistoryChange | undefined {
    try {
      return this.#applyEvent(notice);
    } catch {
      this.#isLost = true;
      return undefined;
    }
  }

  #applyEvent({ seq, event, graph }: Extract<LiveNotice, { type: "event" }>): HistoryChange | undefined {
    const { state } = this.history;
    if (this.#isLost || seq <= state.seq) return undefined;
    if (event.type === "callResolved" && graph !== undefined)
      state.graphs.set(event.graph, indexGraph(graph, event.graph));
    const isKnown = event.type !== "callResolved" || state.graphs.has(event.graph);
    this.#isLost = seq > state.seq + 1 || !isKnown;
    if (this.#isLost) return undefined;
    const change = this.history.apply(event);
    for (const { path } of change.ended) this.#forget(path);
    return change;
  }
}

const MAX_CHARS = 200;

/**
 * What an agent does by one of its events: the tool that it calls, or the end of what it says. `before`: what it did until
 * then, which a piece of text goes on with. Undefined: the event says nothing of it.
 */
function readDoing(event: Json, before: string): string | undefined {
  if (!isJsonObject(event)) return undefined;
  const { type, name, text, message } = event;
  if (type === "tool_call" && typeof name === "string") return `${CALLS}${name}`;
  if (type === "text" && typeof text === "string")
    return ((before.startsWith(CALLS) ? "" : before) + text).slice(-MAX_CHARS);
  if (type !== "assistant" || !isJsonObject(message) || !Array.isArray(message["content"])) return undefined;
  const blocks: readonly Json[] = message["content"];
  return blocks.map(readBlock).findLast((doing) => doing !== undefined);
}

const CALLS = "calls ";

function readBlock(block: Json): string | undefined {
  if (!isJsonObject(block)) return undefined;
  const { type, name, text } = block;
  if (type === "tool_use" && typeof name === "string") return `${CALLS}${name}`;
  return type === "text" && typeof text === "string" && text.trim() !== "" ? text.slice(-MAX_CHARS) : undefined;
}
