import { loadHandle } from "../../../core/binding/bind.ts";
import { collectOfHandle } from "../../../core/binding/values-needed.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import type { IndexedGraph } from "../../../core/graph/indexed-graph.ts";
import type { Event } from "../../../core/history/events.ts";
import type { Handle, NoteWay } from "../../../core/history/run-state.ts";
import type { Json } from "../../../core/json.ts";
import { SizedCache } from "../../../core/sized-cache.ts";
import { loadGraph } from "../../../hosts/session/rebuild-run.ts";
import { RunValues } from "../../../hosts/session/values/run-values.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import type { Journal, RunNo, RunRecord } from "../../../ports/journal.ts";
import type { Stores } from "../../application/ports.ts";
import { holdInMemory, weighJson } from "../../limits/quotas.ts";
import { eachEvent } from "../each-event.ts";
import { type HistoryChange, RunHistory } from "./describe-run-history.ts";

/** The parts that reading a run needs. Nothing is written, so the run may be under way in another process. */
export interface RunSources {
  readonly journal: Journal;
  readonly blobs: Pick<Blobs, "get">;
}

/** A run that was read: its history in memory, its values where they lie. */
export interface RunReading {
  readonly record: RunRecord;
  readonly history: RunHistory;
  readonly values: RunValues;
  readonly sources: RunSources;
}

export interface HistoryWanted {
  /** Those that are at hand, and then those that were read. */
  readonly graphs?: Map<string, IndexedGraph> | undefined;
  /** The number of the last event that is read. Absent: the newest. */
  readonly upTo?: number | undefined;
  readonly noteWay?: NoteWay | undefined;
}

/** Reads a run's events, no values. */
export async function readRunHistory(
  sources: RunSources,
  record: RunRecord,
  { graphs = new Map(), upTo = Number.POSITIVE_INFINITY, noteWay }: HistoryWanted = {},
): Promise<RunReading> {
  const { journal } = sources;
  const history = new RunHistory(await loadGraph(journal, record.graph, graphs), noteWay);
  for await (const { seq, event } of eachEvent(journal, record.no)) {
    if (seq > upTo) break;
    await applyStored(history, event, { journal, graphs });
  }
  const values = openValues(sources, record.no, (seq, json) => history.sizes.set(seq, json.length));
  return { record, history, values, sources };
}

/** With the graph that the event names. */
export async function applyStored(
  history: RunHistory,
  event: Event,
  { journal, graphs }: { readonly journal: Journal; readonly graphs: Map<string, IndexedGraph> },
): Promise<HistoryChange> {
  const { state } = history;
  if (event.type === "callResolved" && !state.graphs.has(event.graph))
    state.graphs.set(event.graph, await loadGraph(journal, event.graph, graphs));
  return history.apply(event);
}

export async function readPinnedGraph(app: Pick<Stores, "records">, hash: string): Promise<Graph> {
  return (await loadGraph((await app.records()).journal, hash, new Map())).graph;
}

/** The recorded values of a run. Each that is read counts as held in memory by the request that asks. */
export function openValues(
  { journal, blobs }: RunSources,
  run: RunNo,
  loaded?: (seq: number, json: string) => void,
): RunValues {
  const count = (seq: number, json: string) => {
    holdInMemory(weighJson(json));
    loaded?.(seq, json);
  };
  const fixed = {
    files: NO_FILES,
    cache: new SizedCache<number | string, Json>(0),
    env: () => undefined,
    matches: () => false,
  };
  return new RunValues(run, { journal, blobs, ...fixed, loaded: count });
}

/** Reads what these handles stand for, and no more; the returned function makes values of them. */
export async function readHandles(
  { values }: Pick<RunReading, "values">,
  handles: Iterable<Handle>,
): Promise<(handle: Handle) => Json> {
  const seqs = new Set<number>();
  for (const handle of handles) collectOfHandle(handle, seqs);
  const read = await values.read(seqs);
  return (handle) => loadHandle(handle, read);
}

/** `value` is left out where it is too large. `bytes`: about its length as JSON. */
export interface SizedValue {
  readonly value?: Json;
  readonly bytes: number;
}

/** What an answer bears of values: none that is larger, and so many bytes together. */
export interface Room {
  readonly most: number;
  left: number;
}

const LARGE_BYTES = 65_536;
const ANSWER_BYTES = 16 * 1024 * 1024;

export function roomFor(most = LARGE_BYTES): Room {
  return { most, left: most === Number.POSITIVE_INFINITY ? most : ANSWER_BYTES };
}

/** Looks at sizes first, so that a large value is read for nobody who has not asked for it. */
export async function readSized(
  reading: RunReading,
  handles: readonly Handle[],
  room: Room,
): Promise<(handle: Handle) => SizedValue> {
  const small = handles.filter((handle) => bytesOf(reading, handle) <= room.most);
  const load = await readHandles(reading, small);
  return (handle) => {
    const bytes = bytesOf(reading, handle);
    if (bytes > room.most || bytes > room.left) return { bytes };
    room.left -= bytes;
    return { value: load(handle), bytes };
  };
}

/** As far as is known: of what was read all is. */
function bytesOf({ history: { sizes } }: RunReading, handle: Handle): number {
  const seqs = new Set<number>();
  collectOfHandle(handle, seqs);
  let bytes = 0;
  for (const seq of seqs) bytes += sizes.get(seq) ?? 0;
  return bytes;
}

async function refuse(): Promise<never> {
  throw new Error("A run is described without writing.");
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
