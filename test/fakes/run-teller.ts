import type { Graph } from "../../src/core/graph/graph.ts";
import { indexGraph } from "../../src/core/graph/indexed-graph.ts";
import type { Event } from "../../src/core/history/events.ts";
import { newRunState } from "../../src/core/history/new-run-state.ts";
import type { RunState } from "../../src/core/history/run-state.ts";
import { next } from "../../src/core/interpreter/next.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { RunNotice } from "../../src/hosts/run-host.ts";
import { inputProjection } from "../../src/hosts/session/values/project-output.ts";

type EventNotice = Extract<RunNotice, { type: "event" }>;

/** Tells what happens in a run as a host would, with the core's decisions in the events, but at the pace of a test. */
export class RunTeller {
  now = Date.UTC(2026, 0, 2, 3, 4, 5);
  readonly notices: EventNotice[] = [];
  readonly #graph: Graph;
  readonly #state: RunState;
  readonly #listen: (notice: RunNotice) => void;

  constructor(graph: Graph, listen: (notice: RunNotice) => void) {
    this.#graph = graph;
    this.#state = newRunState(indexGraph(graph, ""));
    this.#listen = listen;
  }

  start(input: JsonObject): void {
    const { name: workflow } = this.#graph;
    const inputNames = Object.keys(input);
    const projected = inputProjection(this.#graph, input);
    this.tell({ type: "runStarted", at: this.now, runId: "run-1", workflow, inputNames, ...projected });
  }

  passes(ms: number): void {
    this.now += ms;
  }

  succeed(path: string, { afterMs = 0, costMicro = 0 } = {}): void {
    this.passes(afterMs);
    this.tell({ type: "stepSucceeded", at: this.now, path, attempt: this.#attemptOf(path), costMicro });
  }

  fail(path: string, { afterMs = 0, message = "Too slow." } = {}): void {
    this.passes(afterMs);
    const attempt = this.#attemptOf(path);
    const failure = { code: "TIMEOUT", message, retryable: true, effect: "unknown" } as const;
    this.tell({ type: "stepFailed", at: this.now, path, attempt, ...failure });
  }

  /** A call begins. The listener learns of the called graph only if it `isGiven`. */
  call(path: string, graph: Graph, { isGiven = true } = {}): void {
    this.#state.graphs.set(graph.name, indexGraph(graph, graph.name));
    const workflow = graph.name;
    const event: Event = { type: "callResolved", at: this.now, path, graph: graph.name, workflow, inputNames: [] };
    this.tell(event, isGiven ? { graph } : {});
  }

  /** The run ends as its core has decided. */
  finish(): void {
    const { ending } = this.#state;
    if (ending === undefined) throw new Error("The run has not come to its end.");
    this.tell({ type: "runFinished", at: this.now, ...ending });
  }

  tell(event: Event, more: Pick<EventNotice, "graph"> = {}): void {
    const { decided } = next(this.#state, event);
    const notice: EventNotice = { type: "event", seq: this.#state.seq, event: { ...event, decided }, ...more };
    this.notices.push(notice);
    this.#listen(notice);
  }

  repeatAll(): void {
    for (const notice of [...this.notices]) this.#listen(notice);
  }

  #attemptOf(path: string): number {
    return this.#state.active.get(path)?.attempt ?? 1;
  }
}
