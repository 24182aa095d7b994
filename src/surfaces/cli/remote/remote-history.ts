import { dataOf, type PawlClient, type RunStreamEvent } from "../../../client/pawl-client.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import { indexGraph } from "../../../core/graph/indexed-graph.ts";
import type { Event } from "../../../core/history/events.ts";
import { waitsForOthers } from "../../../core/interpreter/run-status.ts";
import { RunHistory } from "../../../operations/runs/describe-run-history.ts";
import type { LiveNotice } from "../render/live-run.ts";
import { given } from "./remote-parts.ts";

type StreamedEvent = Extract<RunStreamEvent, { readonly event: "event" }>;

/** A run of a server as its journal tells it, with the graphs that its events name. */
export class RemoteHistory {
  readonly graph: Graph;
  readonly #client: PawlClient;
  readonly #runId: string;
  readonly #history: RunHistory;

  private constructor(client: PawlClient, runId: string, graph: Graph) {
    this.graph = graph;
    this.#client = client;
    this.#runId = runId;
    this.#history = new RunHistory(indexGraph(graph, ""));
  }

  static async open(client: PawlClient, runId: string): Promise<RemoteHistory> {
    return new RemoteHistory(client, runId, await readGraph(client, runId));
  }

  /** What a view is told. */
  async apply({ data }: StreamedEvent): Promise<LiveNotice> {
    // A server of this version writes events as this program reads them.
    const event = data.event as Event;
    const isCall = event.type === "callResolved";
    const graph = isCall ? await readGraph(this.#client, this.#runId, event.graph) : undefined;
    const { state } = this.#history;
    if (isCall && graph !== undefined) state.graphs.set(event.graph, indexGraph(graph, event.graph));
    this.#history.apply(event);
    return { type: "event", seq: data.seq, event, ...given({ graph }) };
  }

  /** Nothing is left but waiting for a person or an event from outside. */
  get isAtRest(): boolean {
    return waitsForOthers(this.#history.state);
  }

  /** Names of the events that it waits for. */
  get awaited(): readonly string[] {
    return [...this.#history.state.waiters.keys()];
  }
}

async function readGraph(client: PawlClient, id: string, called?: string): Promise<Graph> {
  const params = { path: { id }, query: given({ called }) };
  return (await dataOf(client.api.GET("/runs/{id}/graph", { params }))) as unknown as Graph;
}
