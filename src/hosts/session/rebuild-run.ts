import { PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact } from "../../core/exact-json.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { type IndexedGraph, indexGraph } from "../../core/graph/indexed-graph.ts";
import type { Command } from "../../core/history/commands.ts";
import type { Event, RunStarted } from "../../core/history/events.ts";
import { newRunState } from "../../core/history/new-run-state.ts";
import type { RunState } from "../../core/history/run-state.ts";
import { refold } from "../../core/interpreter/next.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Journal, RunRecord } from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";

const PAGE = 500;
const GRAPH_FORMAT = 1;

export interface RebuiltRun {
  readonly state: RunState;
  readonly options: JsonObject;
  readonly lineage: RunStarted["lineage"];
  /** Secrets of inputs, with the number of the event that holds the input. */
  readonly sealed: readonly SealedSecrets[];
  /** What the last event wants done. */
  readonly wanted: readonly Command[];
}

interface SealedSecrets {
  readonly seq: number;
  readonly text: string;
}

/** Folds a run's state from its events: decisions are read, no value is loaded, nothing is evaluated. */
export async function rebuildRun(
  journal: Journal,
  record: RunRecord,
  graphs: Map<string, IndexedGraph>,
  applied: (state: RunState, event: Event) => void = () => {},
): Promise<RebuiltRun> {
  const state = newRunState(await loadGraph(journal, record.graph, graphs));
  let started: RunStarted | undefined;
  const sealed: SealedSecrets[] = [];
  let wanted: readonly Command[] = [];
  for (;;) {
    await passTurn();
    const rows = await journal.readEvents(record.no, { afterSeq: state.seq, limit: PAGE });
    for (const { seq, event } of rows) {
      if ("sealed" in event && event.sealed !== undefined) sealed.push({ seq, text: event.sealed });
      if (event.type === "runStarted") started = event;
      if (event.type === "callResolved" && !state.graphs.has(event.graph))
        state.graphs.set(event.graph, await loadGraph(journal, event.graph, graphs));
      wanted = refold(state, event);
      applied(state, event);
    }
    if (rows.length < PAGE)
      return { state, options: started?.options ?? {}, lineage: started?.lineage, sealed, wanted };
  }
}

/** A graph that a run has pinned; `graphs` keeps those that were read. Throws `JOURNAL_DAMAGED`, `GRAPH_FORMAT_UNKNOWN`. */
export async function loadGraph(
  journal: Journal,
  hash: string,
  graphs: Map<string, IndexedGraph>,
): Promise<IndexedGraph> {
  const known = graphs.get(hash);
  if (known !== undefined) return known;
  const text = await journal.readPinned(hash);
  if (text === undefined) throw new PawlError("JOURNAL_DAMAGED", { message: `The pinned graph ${hash} is missing.` });
  const graph = parseExact(text) as Graph;
  if (graph.format !== GRAPH_FORMAT)
    throw new PawlError("GRAPH_FORMAT_UNKNOWN", {
      message: `The graph has format ${String(graph.format)}; this Pawl reads ${GRAPH_FORMAT}.`,
    });
  const indexed = indexGraph(graph, hash);
  graphs.set(hash, indexed);
  return indexed;
}
