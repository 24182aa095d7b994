import type { Values } from "../../../core/binding/bind.ts";
import type { IndexedGraph } from "../../../core/graph/indexed-graph.ts";
import type { Event } from "../../../core/history/events.ts";
import { loadGraph } from "../../../hosts/session/rebuild-run.ts";
import { RunValues } from "../../../hosts/session/values/run-values.ts";
import { ValueCache } from "../../../hosts/session/values/value-cache.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import type { Journal, RunNo, RunRecord } from "../../../ports/journal.ts";
import { passTurn } from "../../../ports/turns.ts";
import { RunHistory } from "./describe-run-history.ts";

/** The parts that reading a run needs. Nothing is written, so the run may be under way in another process. */
export interface RunSources {
  readonly journal: Journal;
  readonly blobs: Blobs;
}

/** A run that was read: its history in memory, its values where they lie. */
export interface RunReading {
  readonly record: RunRecord;
  readonly history: RunHistory;
  readonly values: RunValues;
}

const PAGE = 500;

export interface HistoryWanted {
  /** Those that are at hand, and then those that were read. */
  readonly graphs?: Map<string, IndexedGraph>;
  /** The number of the last event that is read. Absent: the newest. */
  readonly upTo?: number;
  /** Folds the events in place of the history, which it applies them to. */
  follow?(history: RunHistory): { apply(event: Event): void };
}

/** Reads a run's events, no values. */
export async function readRunHistory(
  { journal, blobs }: RunSources,
  record: RunRecord,
  { graphs = new Map(), upTo = Number.POSITIVE_INFINITY, follow = (history) => history }: HistoryWanted = {},
): Promise<RunReading> {
  const history = new RunHistory(await loadGraph(journal, record.graph, graphs));
  const { state } = history;
  const fold = follow(history);
  for (let isWhole = false; !isWhole && state.seq < upTo; ) {
    await passTurn();
    const limit = Math.min(PAGE, upTo - state.seq);
    const rows = await journal.readEvents(record.no, { afterSeq: state.seq, limit });
    for (const { event } of rows) {
      if (event.type === "callResolved" && !state.graphs.has(event.graph))
        state.graphs.set(event.graph, await loadGraph(journal, event.graph, graphs));
      fold.apply(event);
    }
    isWhole = rows.length < limit;
  }
  return { record, history, values: openValues({ journal, blobs }, record.no) };
}

/** The recorded values of a run. */
export function openValues({ journal, blobs }: RunSources, run: RunNo): RunValues {
  const sources = { journal, blobs, files: NO_FILES, cache: new ValueCache(0), env: nothing, matches: () => false };
  return new RunValues(run, sources, []);
}

/** Recorded values by the number of their event; what is not asked for stays where it is. */
export async function readValues({ values }: RunReading, seqs: ReadonlySet<number>): Promise<Values> {
  return values.read(seqs);
}

async function refuse(): Promise<never> {
  throw new Error("A run is described without writing.");
}

function nothing(): undefined {
  return undefined;
}

// Recorded values are what the run read, so that no file is opened for them.
const NO_FILES: FileStorage = {
  read: async () => undefined,
  sizeOf: async () => undefined,
  readRange: async () => new Uint8Array(),
  write: refuse,
  extend: refuse,
  list: async () => [],
  remove: async () => false,
};
