import type { DatabaseSync } from "node:sqlite";
import type {
  Append,
  AppendResult,
  EventRow,
  Journal,
  LogPage,
  LogPosition,
  LogQuery,
  OutboxQuery,
  OutboxRecord,
  RunFilter,
  RunNo,
  RunRecord,
  RunSelection,
  ViolationFilter,
  ViolationRecord,
} from "../../ports/journal.ts";
import { BatchWriter } from "./batch-writer.ts";
import { JournalReader } from "./journal-reader.ts";
import { openDatabase, type SqliteOptions } from "./open-database.ts";
import { toReadFailure } from "./storage-failure.ts";

/**
 * A journal in one SQLite file, for one owner and any number of readers in other processes. Every statement runs on
 * the calling thread; `WorkerJournal` runs the same class on a thread of its own.
 */
export class SqliteJournal implements Journal {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #reader: JournalReader;
  readonly #writer: BatchWriter;
  #lastReserved: RunNo;

  /** Throws `JOURNAL_DAMAGED`, `JOURNAL_NEWER`, `JOURNAL_FULL` or `JOURNAL_IO`, with the path in the message. */
  static open(options: SqliteOptions): SqliteJournal {
    const database = openDatabase(options);
    try {
      return new SqliteJournal(database, options.path);
    } catch (error) {
      database.close();
      throw toReadFailure(error, options.path);
    }
  }

  private constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#reader = new JournalReader(database, path);
    this.#writer = new BatchWriter(database, path, () => this.#reader.readOpenPart());
    this.#lastReserved = this.#writer.newestRun;
  }

  reserveRun(): RunNo {
    this.#lastReserved += 1;
    return this.#lastReserved;
  }

  async append(entries: readonly Append[]): Promise<readonly AppendResult[]> {
    return this.#writer.append(entries);
  }

  async readEvents(run: RunNo, options: { afterSeq: number; limit: number }): Promise<readonly EventRow[]> {
    return this.#read(() => this.#reader.readEvents(run, options));
  }

  async readValue(run: RunNo, seq: number): Promise<string | undefined> {
    return this.#read(() => this.#reader.readValue(run, seq));
  }

  async readValues(run: RunNo, seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return this.#read(() => this.#reader.readValues(run, seqs));
  }

  async readLog(query: LogQuery): Promise<LogPage> {
    return this.#read(() => this.#reader.readLog(query));
  }

  async findCommit(commit?: number): Promise<LogPosition | undefined> {
    return this.#read(() => this.#reader.findCommit(commit));
  }

  async listViolations(filter: ViolationFilter): Promise<readonly ViolationRecord[]> {
    return this.#read(() => this.#reader.listViolations(filter));
  }

  async findRun(idOrPrefix: string): Promise<RunRecord | "ambiguous" | undefined> {
    return this.#read(() => this.#reader.findRun(idOrPrefix));
  }

  async readRun(run: RunNo): Promise<RunRecord | undefined> {
    return this.#read(() => this.#reader.readRun(run));
  }

  async listRuns(filter: RunFilter): Promise<readonly RunRecord[]> {
    return this.#read(() => this.#reader.listRuns(filter));
  }

  async countRuns(selection: RunSelection): Promise<number> {
    return this.#read(() => this.#reader.countRuns(selection));
  }

  async countApprovals(): Promise<number> {
    return this.#read(() => this.#reader.countApprovals());
  }

  async listDue(options: { now: number; afterRun: RunNo; limit: number }): Promise<readonly RunRecord[]> {
    return this.#read(() => this.#reader.listDue(options));
  }

  async nextWakeAt(): Promise<number | undefined> {
    return this.#read(() => this.#reader.nextWakeAt());
  }

  async readPinned(hash: string): Promise<string | undefined> {
    return this.#read(() => this.#reader.readPinned(hash));
  }

  async readOutbox(options: OutboxQuery): Promise<readonly OutboxRecord[]> {
    return this.#read(() => this.#reader.readOutbox(options));
  }

  async finishOutbox(ids: readonly number[]): Promise<void> {
    this.#writer.finishOutbox(ids);
  }

  async deleteRun(run: RunNo): Promise<boolean> {
    return this.#writer.deleteRun(run);
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #read<T>(query: () => T): T {
    try {
      return query();
    } catch (error) {
      throw toReadFailure(error, this.#path);
    }
  }
}
