import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { encodeEvent } from "../../core/history/event-codec.ts";
import type { Append, AppendResult, NewRun, RunNo, RunPatch } from "../../ports/journal.ts";
import { findRefusal, hasEnded, headAfter, type RunHead, refused, taken, timeOf } from "../append-rule.ts";
import { logBatch, type OpenPart } from "../commit-log.ts";
import * as sql from "../sql/journal-statements.ts";
import { type RunRow, rangeOf, SEQ_RANGE, toRunRecord, toUncertainColumn } from "../sql/run-row.ts";
import { Statements } from "./statement.ts";
import { toStorageFailure } from "./storage-failure.ts";

/** Changes of a batch. The writer takes them over when the batch is committed. */
interface Batch {
  readonly heads: Map<RunNo, RunHead>;
  readonly pins: Set<string>;
  /** Columns of events, row after row, that are still to be inserted: this many rows in one statement. */
  readonly rows: SQLInputValue[];
  readonly rowsAtOnce: number;
}

type WriteEntry = (entry: Append, batch: Batch) => AppendResult;

/**
 * Commits batches. Conflicts are found against the heads of runs in memory, so that the good case pays for no
 * savepoints; only when SQLite itself refuses a statement is the batch done again, entry by entry.
 */
export class BatchWriter {
  readonly #statements: Statements;
  readonly #path: string;

  /** Active runs. Parked and ended runs are read again when needed. */
  readonly #heads = new Map<RunNo, RunHead>();
  readonly #pins = new Set<string>();
  readonly #readOpenPart: () => OpenPart | undefined;
  /** The end of the order of all runs. Undefined: it must be read. */
  #log: { readonly open: OpenPart | undefined } | undefined;
  #newestRun: RunNo;
  /** There is one batch at a time, and only the last one can be tried again. */
  #lastBatch: { readonly token: string; readonly results: readonly AppendResult[] } | undefined;

  constructor(database: DatabaseSync, path: string, readOpenPart: () => OpenPart | undefined) {
    this.#statements = new Statements(database);
    this.#readOpenPart = readOpenPart;
    this.#path = path;
    this.#newestRun = this.#readNewestRun();
  }

  /** No run in the file has a higher number. */
  get newestRun(): RunNo {
    return this.#newestRun;
  }

  /**
   * See `Journal.append`. Throws `JOURNAL_FULL`, `JOURNAL_IO` or `JOURNAL_DAMAGED` when nothing was written; the state
   * of the writer is then as before.
   */
  append(entries: readonly Append[], token?: string): readonly AppendResult[] {
    const last = this.#lastBatch;
    if (token !== undefined && last?.token === token) return last.results;
    const results = this.#append(entries);
    this.#lastBatch = token === undefined ? undefined : { token, results };
    return results;
  }

  #append(entries: readonly Append[]): readonly AppendResult[] {
    try {
      return this.#commitBatch(entries, this.#writeEntry, sql.EVENTS_AT_ONCE);
    } catch (error) {
      const failure = toStorageFailure(error, this.#path);
      if (failure !== undefined) throw failure;
    }
    return this.#appendOneByOne(entries);
  }

  finishOutbox(ids: readonly number[]): void {
    this.#attempt(() =>
      this.#statements.inTransaction(() => {
        for (const id of ids) this.#prepare(sql.FINISH_OUTBOX).run(id);
      }),
    );
  }

  /** See `Journal.deleteRun`. Uses one transaction for any size: SQLite keeps its log on disk, and half a run is useless. */
  deleteRun(run: RunNo): boolean {
    return this.#attempt(() => {
      const head = this.#findHead(run);
      if (head === undefined || !hasEnded(head.status)) return false;
      this.#statements.inTransaction(() => {
        this.#prepare(sql.DELETE_EVENTS).run(...rangeOf(run));
        this.#prepare(sql.EMPTY_OUTBOX).run(run);
        this.#prepare(sql.DELETE_VIOLATIONS).run(run);
        this.#prepare(sql.INSERT_DELETED_RUN).run(run);
        this.#prepare(sql.DELETE_RUN).run(run);
      });
      return true;
    });
  }

  /** A statement failed that should not: trust the file instead of memory, and let each entry fail alone. */
  #appendOneByOne(entries: readonly Append[]): readonly AppendResult[] {
    this.#heads.clear();
    this.#pins.clear();
    this.#log = undefined;
    return this.#attempt(() => {
      this.#newestRun = this.#readNewestRun();
      return this.#commitBatch(entries, this.#writeEntryGuarded, 1);
    });
  }

  #attempt<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw toStorageFailure(error, this.#path) ?? error;
    }
  }

  #commitBatch(entries: readonly Append[], write: WriteEntry, rowsAtOnce: number): readonly AppendResult[] {
    const batch: Batch = { heads: new Map(), pins: new Set(), rows: [], rowsAtOnce };
    // Read before anything is written, because the batch continues it.
    const { open } = this.#log ?? { open: this.#readOpenPart() };
    const { results, logged } = this.#statements.inTransaction(() => {
      const written = entries.map((entry) => write(entry, batch));
      this.#insertRest(batch);
      const log = logBatch(entries, written, open);
      if (log.commit !== undefined) this.#prepare(sql.INSERT_COMMIT).run(log.commit.at, log.commit.entries);
      return { results: written, logged: log };
    });
    this.#log = logged;
    this.#remember(batch);
    return results;
  }

  readonly #writeEntry: WriteEntry = (entry, batch) => {
    const head = batch.heads.get(entry.run) ?? this.#findHead(entry.run);
    const refusal = findRefusal(head, entry);
    if (refusal !== undefined) return refusal;
    if (entry.create !== undefined) this.#createRun(entry.run, entry.create, entry.patch);
    else if (entry.patch !== undefined) this.#updateRun(entry.run, entry.patch);
    this.#insertEvents(entry, batch);
    const newPins = (entry.pins ?? []).filter(({ hash }) => !this.#pins.has(hash) && !batch.pins.has(hash));
    for (const { hash, text } of newPins) this.#prepare(sql.INSERT_PIN).run(hash, text);
    for (const { kind, body } of entry.outbox ?? [])
      this.#prepare(sql.INSERT_OUTBOX).run(entry.run, kind, body, timeOf(entry));

    // Last, because an entry that fails half-way must leave no trace in the batch.
    batch.heads.set(entry.run, headAfter(head, entry));
    for (const { hash } of newPins) batch.pins.add(hash);
    return { ok: true };
  };

  readonly #writeEntryGuarded: WriteEntry = (entry, batch) => {
    this.#prepare("SAVEPOINT entry").run();
    try {
      const result = this.#writeEntry(entry, batch);
      this.#prepare("RELEASE entry").run();
      return result;
    } catch (error) {
      if (toStorageFailure(error, this.#path) !== undefined) throw error;
      this.#prepare("ROLLBACK TO entry").run();
      this.#prepare("RELEASE entry").run();
      if (entry.create !== undefined && this.#isTaken(entry.create.id)) return taken(entry.create.id);
      return refused(error instanceof Error ? error.message : String(error));
    }
  };

  #isTaken(id: string): boolean {
    return this.#statements.query(sql.SELECT_RUN_BY_ID).get(id) !== undefined;
  }

  #createRun(run: RunNo, create: NewRun, patch: RunPatch = {}): void {
    const { id, workflow, dialect, graph, definition, createdAt } = create;
    const { parentRunId = null, tenantId = null, callbackUrl = null } = create;
    const { status = "queued", parked = false, wakeAt = null, costMicro = 0, openApprovals = 0 } = patch;
    const { startedAt = null, completedAt = null, error, uncertainMicro = 0 } = patch;
    this.#prepare(sql.INSERT_RUN).run(
      ...[run, id, workflow, dialect, graph, definition, status, Number(parked), wakeAt, costMicro],
      ...[createdAt, startedAt, completedAt, toText(error), parentRunId, tenantId, callbackUrl, openApprovals],
      toUncertainColumn(uncertainMicro),
    );
  }

  #updateRun(run: RunNo, patch: RunPatch): void {
    const { costMicro = null, status = null, parked, startedAt = null, completedAt = null, wakeAt, error } = patch;
    const { openApprovals = null } = patch;
    if (isOnlyCost(patch)) {
      this.#prepare(sql.PATCH_COST).run(costMicro, toUncertainColumn(patch.uncertainMicro), run);
      return;
    }
    this.#prepare(sql.PATCH_RUN).run(
      ...[
        costMicro,
        toUncertainColumn(patch.uncertainMicro),
        status,
        parked === undefined ? null : Number(parked),
        startedAt,
        completedAt,
        openApprovals,
      ],
      ...[Number(wakeAt !== undefined), wakeAt ?? null, Number(error !== undefined), toText(error), run],
    );
  }

  #insertEvents({ run, afterSeq, events }: Append, { rows, rowsAtOnce }: Batch): void {
    let id = run * SEQ_RANGE + afterSeq;
    for (const { event, value = null } of events) {
      id += 1;
      const { type, path, attempt, at, costMicro, body } = encodeEvent(event);
      rows.push(id, type, path, attempt, at, costMicro, body, value);
      if (rows.length === rowsAtOnce * sql.EVENT_COLUMNS)
        this.#prepare(rowsAtOnce === 1 ? sql.INSERT_EVENT : sql.INSERT_EVENTS).run(...rows.splice(0));
      if ("policies" in event && event.policies !== undefined) {
        for (const decision of event.policies) {
          const { policy, action } = decision;
          const seq = id - run * SEQ_RANGE;
          this.#prepare(sql.INSERT_VIOLATION).run(run, seq, event.path, at, policy, action, JSON.stringify(decision));
        }
      }
    }
  }

  #insertRest({ rows }: Batch): void {
    while (rows.length > 0) this.#prepare(sql.INSERT_EVENT).run(...rows.splice(0, sql.EVENT_COLUMNS));
  }

  #findHead(run: RunNo): RunHead | undefined {
    const known = this.#heads.get(run);
    if (known !== undefined || run > this.#newestRun) return known;
    const row = this.#statements.query<RunRow>(sql.SELECT_RUN).get(run);
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

  #prepare(text: string): StatementSync {
    return this.#statements.prepare(text);
  }

  #readNewestRun(): RunNo {
    return this.#statements.query<{ readonly newest: number | null }>(sql.SELECT_NEWEST_RUN).get()?.newest ?? 0;
  }
}

function isOnlyCost({ costMicro, uncertainMicro: _, ...others }: RunPatch): boolean {
  return costMicro !== undefined && Object.values(others).every((value) => value === undefined);
}

function toText(error: RunPatch["error"]): string | null {
  return error === undefined || error === null ? null : JSON.stringify(error);
}
