import type { DatabaseSync, StatementSync } from "node:sqlite";
import { encodeEvent } from "../../core/history/event-codec.ts";
import type { Append, AppendResult, NewRun, RunNo, RunPatch } from "../../ports/journal.ts";
import { findRefusal, hasEnded, headAfter, type RunHead, refused, timeOf } from "../append-rule.ts";
import { logBatch, type OpenPart } from "../commit-log.ts";
import {
  DELETE_EVENTS,
  DELETE_RUN,
  DELETE_VIOLATIONS,
  EMPTY_OUTBOX,
  FINISH_OUTBOX,
  INSERT_COMMIT,
  INSERT_DELETED_RUN,
  INSERT_EVENT,
  INSERT_OUTBOX,
  INSERT_PIN,
  INSERT_RUN,
  INSERT_VIOLATION,
  PATCH_COST,
  PATCH_RUN,
  SELECT_NEWEST_RUN,
  SELECT_RUN,
} from "../sql/journal-statements.ts";
import { type RunRow, SEQ_RANGE, toRunRecord } from "../sql/run-row.ts";
import { prepareQuery, type Query } from "./statement.ts";
import { toStorageFailure } from "./storage-failure.ts";

/** What a batch has changed; it becomes the writer's knowledge only when the batch is committed. */
interface Batch {
  readonly heads: Map<RunNo, RunHead>;
  readonly pins: Set<string>;
}

type WriteEntry = (entry: Append, batch: Batch) => AppendResult;

/**
 * Commits batches. Conflicts are found against the heads of runs in memory, so that the good case pays for no
 * savepoints; only when SQLite itself refuses a statement is the batch done again, entry by entry.
 */
export class BatchWriter {
  readonly #path: string;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #rollbackToSavepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #insertRun: StatementSync;
  readonly #patchCost: StatementSync;
  readonly #patchRun: StatementSync;
  readonly #insertEvent: StatementSync;
  readonly #insertCommit: StatementSync;
  readonly #insertViolation: StatementSync;
  readonly #deleteViolations: StatementSync;
  readonly #insertPin: StatementSync;
  readonly #insertOutbox: StatementSync;
  readonly #finishOutbox: StatementSync;
  readonly #deleteEvents: StatementSync;
  readonly #emptyOutbox: StatementSync;
  readonly #insertDeletedRun: StatementSync;
  readonly #deleteRun: StatementSync;
  readonly #selectRun: Query<RunRow>;
  readonly #selectNewestRun: Query<{ readonly newest: number | null }>;

  /** Runs that go on. Those that rest or have ended are read again if they are ever needed. */
  readonly #heads = new Map<RunNo, RunHead>();
  readonly #pins = new Set<string>();
  readonly #readOpenPart: () => OpenPart | undefined;
  /** Of the order of all runs. Undefined: it has to be read. */
  #log: { readonly open: OpenPart | undefined } | undefined;
  #newestRun: RunNo;

  constructor(database: DatabaseSync, path: string, readOpenPart: () => OpenPart | undefined) {
    this.#readOpenPart = readOpenPart;
    this.#path = path;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#rollback = database.prepare("ROLLBACK");
    this.#savepoint = database.prepare("SAVEPOINT entry");
    this.#rollbackToSavepoint = database.prepare("ROLLBACK TO entry");
    this.#release = database.prepare("RELEASE entry");
    this.#insertRun = database.prepare(INSERT_RUN);
    this.#patchCost = database.prepare(PATCH_COST);
    this.#patchRun = database.prepare(PATCH_RUN);
    this.#insertEvent = database.prepare(INSERT_EVENT);
    this.#insertCommit = database.prepare(INSERT_COMMIT);
    this.#insertViolation = database.prepare(INSERT_VIOLATION);
    this.#deleteViolations = database.prepare(DELETE_VIOLATIONS);
    this.#insertPin = database.prepare(INSERT_PIN);
    this.#insertOutbox = database.prepare(INSERT_OUTBOX);
    this.#finishOutbox = database.prepare(FINISH_OUTBOX);
    this.#deleteEvents = database.prepare(DELETE_EVENTS);
    this.#emptyOutbox = database.prepare(EMPTY_OUTBOX);
    this.#insertDeletedRun = database.prepare(INSERT_DELETED_RUN);
    this.#deleteRun = database.prepare(DELETE_RUN);
    this.#selectRun = prepareQuery(database, SELECT_RUN);
    this.#selectNewestRun = prepareQuery(database, SELECT_NEWEST_RUN);
    this.#newestRun = this.#readNewestRun();
  }

  /** No run in the file has a higher number. */
  get newestRun(): RunNo {
    return this.#newestRun;
  }

  /**
   * As `Journal.append`. Throws `JOURNAL_FULL`, `JOURNAL_IO` or `JOURNAL_DAMAGED` when nothing was written; what the
   * writer knows is then as before.
   */
  append(entries: readonly Append[]): readonly AppendResult[] {
    try {
      return this.#commitBatch(entries, this.#writeEntry);
    } catch (error) {
      const failure = toStorageFailure(error, this.#path);
      if (failure !== undefined) throw failure;
    }
    return this.#appendOneByOne(entries);
  }

  finishOutbox(ids: readonly number[]): void {
    try {
      this.#inTransaction(() => {
        for (const id of ids) this.#finishOutbox.run(id);
      });
    } catch (error) {
      throw toStorageFailure(error, this.#path) ?? error;
    }
  }

  /** As `Journal.deleteRun`. One transaction whatever the size: SQLite holds its log on disk, and half a run is none. */
  deleteRun(run: RunNo): boolean {
    try {
      const head = this.#findHead(run);
      if (head === undefined || !hasEnded(head.status)) return false;
      this.#inTransaction(() => {
        this.#deleteEvents.run(run * SEQ_RANGE, (run + 1) * SEQ_RANGE);
        this.#emptyOutbox.run(run);
        this.#deleteViolations.run(run);
        this.#insertDeletedRun.run(run);
        this.#deleteRun.run(run);
      });
      return true;
    } catch (error) {
      throw toStorageFailure(error, this.#path) ?? error;
    }
  }

  /** A statement failed that should not: trust the file instead of memory, and let each entry fail alone. */
  #appendOneByOne(entries: readonly Append[]): readonly AppendResult[] {
    this.#heads.clear();
    this.#pins.clear();
    this.#log = undefined;
    try {
      this.#newestRun = this.#readNewestRun();
      return this.#commitBatch(entries, this.#writeEntryGuarded);
    } catch (error) {
      throw toStorageFailure(error, this.#path) ?? error;
    }
  }

  #commitBatch(entries: readonly Append[], write: WriteEntry): readonly AppendResult[] {
    const batch: Batch = { heads: new Map(), pins: new Set() };
    // Before anything is written: what is written goes on with it.
    const { open } = this.#log ?? { open: this.#readOpenPart() };
    const { results, logged } = this.#inTransaction(() => {
      const written = entries.map((entry) => write(entry, batch));
      const log = logBatch(entries, written, open);
      if (log.commit !== undefined) this.#insertCommit.run(log.commit.at, log.commit.entries);
      return { results: written, logged: log };
    });
    this.#log = logged;
    this.#remember(batch);
    return results;
  }

  #inTransaction<T>(write: () => T): T {
    this.#begin.run();
    try {
      const result = write();
      this.#commit.run();
      return result;
    } catch (error) {
      this.#abandon();
      throw error;
    }
  }

  readonly #writeEntry: WriteEntry = (entry, batch) => {
    const head = batch.heads.get(entry.run) ?? this.#findHead(entry.run);
    const refusal = findRefusal(head, entry);
    if (refusal !== undefined) return refusal;
    if (entry.create !== undefined) this.#createRun(entry.run, entry.create, entry.patch);
    else if (entry.patch !== undefined) this.#updateRun(entry.run, entry.patch);
    this.#insertEvents(entry);
    const newPins = (entry.pins ?? []).filter(({ hash }) => !this.#pins.has(hash) && !batch.pins.has(hash));
    for (const { hash, text } of newPins) this.#insertPin.run(hash, text);
    for (const { kind, body } of entry.outbox ?? []) this.#insertOutbox.run(entry.run, kind, body, timeOf(entry));

    // Only now: an entry that fails half-way must leave no trace in what the batch believes.
    batch.heads.set(entry.run, headAfter(head, entry));
    for (const { hash } of newPins) batch.pins.add(hash);
    return { ok: true };
  };

  readonly #writeEntryGuarded: WriteEntry = (entry, batch) => {
    this.#savepoint.run();
    try {
      const result = this.#writeEntry(entry, batch);
      this.#release.run();
      return result;
    } catch (error) {
      if (toStorageFailure(error, this.#path) !== undefined) throw error;
      this.#rollbackToSavepoint.run();
      this.#release.run();
      return refused(error instanceof Error ? error.message : String(error));
    }
  };

  #createRun(run: RunNo, create: NewRun, patch: RunPatch = {}): void {
    const { id, workflow, dialect, graph, definition, createdAt } = create;
    const { parentRunId = null, tenantId = null, callbackUrl = null } = create;
    const { status = "queued", parked = false, wakeAt = null, costMicro = 0, openApprovals = 0 } = patch;
    const { startedAt = null, completedAt = null, error } = patch;
    this.#insertRun.run(
      ...[run, id, workflow, dialect, graph, definition, status, Number(parked), wakeAt, costMicro],
      ...[createdAt, startedAt, completedAt, toText(error), parentRunId, tenantId, callbackUrl, openApprovals],
    );
  }

  #updateRun(run: RunNo, patch: RunPatch): void {
    const { costMicro = null, status = null, parked, startedAt = null, completedAt = null, wakeAt, error } = patch;
    const { openApprovals = null } = patch;
    if (isOnlyCost(patch)) {
      this.#patchCost.run(costMicro, run);
      return;
    }
    this.#patchRun.run(
      ...[costMicro, status, parked === undefined ? null : Number(parked), startedAt, completedAt, openApprovals],
      ...[Number(wakeAt !== undefined), wakeAt ?? null, Number(error !== undefined), toText(error), run],
    );
  }

  #insertEvents({ run, afterSeq, events }: Append): void {
    let id = run * SEQ_RANGE + afterSeq;
    for (const { event, value = null } of events) {
      id += 1;
      const { type, path, attempt, at, costMicro, body } = encodeEvent(event);
      this.#insertEvent.run(id, type, path, attempt, at, costMicro, body, value);
      if ("policies" in event && event.policies !== undefined) {
        for (const decision of event.policies) {
          const { policy, action } = decision;
          const seq = id - run * SEQ_RANGE;
          this.#insertViolation.run(run, seq, event.path, at, policy, action, JSON.stringify(decision));
        }
      }
    }
  }

  #findHead(run: RunNo): RunHead | undefined {
    const known = this.#heads.get(run);
    if (known !== undefined || run > this.#newestRun) return known;
    const row = this.#selectRun.get(run);
    return row === undefined ? undefined : toRunRecord(row);
  }

  #remember(batch: Batch): void {
    for (const hash of batch.pins) this.#pins.add(hash);
    for (const [run, head] of batch.heads) {
      if (run > this.#newestRun) this.#newestRun = run;
      if (head.parked || hasEnded(head.status)) this.#heads.delete(run);
      else this.#heads.set(run, head);
    }
  }

  /** SQLite has already rolled back by itself after some failures, e.g. a full disk. */
  #abandon(): void {
    try {
      this.#rollback.run();
    } catch {
      // There was no transaction left to roll back.
    }
  }

  #readNewestRun(): RunNo {
    return this.#selectNewestRun.get()?.newest ?? 0;
  }
}

function isOnlyCost({ costMicro, ...others }: RunPatch): boolean {
  return costMicro !== undefined && Object.values(others).every((value) => value === undefined);
}

function toText(error: RunPatch["error"]): string | null {
  return error === undefined || error === null ? null : JSON.stringify(error);
}
