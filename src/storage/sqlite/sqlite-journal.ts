import type { Journal } from "../../ports/journal.ts";
import { BatchWriter } from "./batch-writer.ts";
import { type JournalCall, journalOver, type SynchronousCalls } from "./journal-calls.ts";
import { createJournalReader } from "./journal-reader.ts";
import { openDatabase, type SqliteOptions } from "./open-database.ts";
import { toReadFailure } from "./storage-failure.ts";

/** The writer says itself what a failure means: it can be a single entry's. */
const WRITES: readonly JournalCall[] = ["append", "finishOutbox", "deleteRun"];

/**
 * Opens a journal in one SQLite file, for one owner and any number of readers in other processes. Every statement runs
 * on the calling thread; `openWorkerJournal` does the same on a thread of its own. Throws `JOURNAL_DAMAGED`,
 * `JOURNAL_NEWER`, `JOURNAL_FULL` or `JOURNAL_IO`, with the path in the message.
 */
export function openSqliteJournal(options: SqliteOptions): Journal {
  const { path } = options;
  const database = openDatabase(options);
  try {
    const { reader, readOpenPart } = createJournalReader(database, path);
    const writer = new BatchWriter(database, path, readOpenPart);
    const calls: SynchronousCalls = {
      ...reader,
      append: (entries) => writer.append(entries),
      finishOutbox: (ids) => writer.finishOutbox(ids),
      deleteRun: (run) => writer.deleteRun(run),
      close: () => database.close(),
    };
    return journalOver(writer.newestRun, async (call, parameters) => {
      try {
        return (calls[call] as (...parameters: readonly unknown[]) => unknown)(...parameters);
      } catch (error) {
        throw WRITES.includes(call) ? error : toReadFailure(error, path);
      }
    });
  } catch (error) {
    database.close();
    throw toReadFailure(error, path);
  }
}
