import { DatabaseSync } from "node:sqlite";
import type { Append, Journal, RunNo } from "../../ports/journal.ts";
import { BatchWriter } from "./batch-writer.ts";
import { BatchEncoder, type EncodedBatch, type Refusals, toResults } from "./encode-batch.ts";
import { createJournalReader, type JournalReads } from "./journal-reader.ts";
import { migrate } from "./migrations.ts";
import { openDatabase, type SqliteOptions } from "./open-database.ts";
import { toReadFailure } from "./storage-failure.ts";
import { waitOutLocks } from "./wait-out-locks.ts";

/**
 * Opens a journal in one SQLite file, for one owner and any number of readers in other processes. Every statement runs
 * on the calling thread. Throws `JOURNAL_DAMAGED`, `JOURNAL_NEWER`, `JOURNAL_FULL` or `JOURNAL_IO`, with the path in the
 * message.
 */
export function openSqliteJournal(options: SqliteOptions): Journal {
  return journalOver(openDatabase(options), options.path);
}

/** The writing calls of a journal, for a thread of their own. */
export interface JournalWriter {
  append(batch: EncodedBatch, token?: string): Promise<Refusals>;
  finishOutbox(ids: readonly number[]): Promise<void>;
  deleteRun(run: RunNo): Promise<boolean>;
}

/** The writing calls of a journal over those of its writer, wherever that is. */
export function writeThrough(writer: JournalWriter): Pick<Journal, keyof JournalWriter> {
  const encoder = new BatchEncoder();
  return {
    append: async (entries: readonly Append[], token?: string) => {
      const refusals = await writer.append(encoder.encode(entries), token);
      encoder.written(entries, refusals);
      return toResults(entries, refusals);
    },
    finishOutbox: (ids) => writer.finishOutbox(ids),
    deleteRun: (run) => writer.deleteRun(run),
  };
}

/** As `openSqliteJournal`, of which it is the half that writes. */
export function openJournalWriter(options: SqliteOptions): JournalWriter & { close(): Promise<void> } {
  const journal = openHalves(openDatabase(options), options.path);
  return { ...journal.writes, close: async () => journal.database.close() };
}

/** A journal without a file and without runs, for readers where nothing has been recorded yet. */
export function openEmptyJournal(): Journal {
  const database = new DatabaseSync(":memory:");
  migrate(database);
  return journalOver(database, ":memory:");
}

function journalOver(database: DatabaseSync, path: string): Journal {
  const { writes, writer, reader } = openHalves(database, path);
  const reads = toAsync(reader, path);
  let lastReserved = writer.newestRun;
  return {
    ...reads,
    async reserveRun() {
      lastReserved += 1;
      return lastReserved;
    },
    // The process that owns the file drives every run in it: see `holdRuns`.
    claim: reads.readRun,
    release: async () => undefined,
    ...writeThrough(writes),
    close: async () => database.close(),
  };
}

function openHalves(database: DatabaseSync, path: string) {
  try {
    const { reader, readOpenPart } = createJournalReader(database, path);
    const writer = new BatchWriter(database, path, readOpenPart);
    // It says itself what a failure means: it can be a single entry's.
    const writes: JournalWriter = waitOutLocks({
      append: async (batch: EncodedBatch, token?: string) => writer.append(batch, token),
      finishOutbox: async (ids: readonly number[]) => writer.finishOutbox(ids),
      deleteRun: async (run: RunNo) => writer.deleteRun(run),
    });
    return { database, reader, writer, writes };
  } catch (error) {
    database.close();
    throw toReadFailure(error, path);
  }
}

function toAsync(reader: JournalReads, path: string): Pick<Journal, keyof JournalReads> {
  const calls = Object.entries<(...parameters: never[]) => unknown>(reader).map(([name, read]) => {
    const call = async (...parameters: never[]) => {
      try {
        return await read(...parameters);
      } catch (error) {
        throw toReadFailure(error, path);
      }
    };
    return [name, call] as const;
  });
  return Object.fromEntries(calls) as Pick<Journal, keyof JournalReads>;
}
