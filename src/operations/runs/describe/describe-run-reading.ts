import type { Values } from "../../../core/binding/bind.ts";
import type { IndexedGraph } from "../../../core/graph/indexed-graph.ts";
import { rebuildRun } from "../../../hosts/session/rebuild-run.ts";
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

/** Reads a run's events, no values. `graphs`: those that are at hand, and then those that were read. */
export async function readRunHistory(
  { journal, blobs }: RunSources,
  record: RunRecord,
  graphs = new Map<string, IndexedGraph>(),
): Promise<RunReading> {
  const { state } = await rebuildRun(journal, record, graphs);
  const history = new RunHistory(state.graph);
  for (const [hash, graph] of state.graphs) history.state.graphs.set(hash, graph);
  // Not further than the first pass: it knows the graphs of the calls up to there.
  while (history.state.seq < state.seq) {
    await passTurn();
    const { seq } = history.state;
    const rows = await journal.readEvents(record.no, { afterSeq: seq, limit: Math.min(PAGE, state.seq - seq) });
    if (rows.length === 0) throw new Error(`The events of run ${record.id} became fewer while they were read.`);
    for (const { event } of rows) history.apply(event);
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
