import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { BoundedMap } from "../../core/bounded-map.ts";
import type { RunPlace } from "../../core/history/events.ts";
import type { RunNo, RunPatch } from "../../ports/journal.ts";
import { findRefusal, full, hasEnded, headAfter, type Refusal, type RunHead, refused, taken } from "../append-rule.ts";
import { logBatch, type OpenPart } from "../commit-log.ts";
import * as sql from "../sql/journal-statements.ts";
import { type RunRow, rangeOf, toRunRecord, toUncertainColumn } from "../sql/run-row.ts";
import { type EncodedBatch, type EncodedEntry, type Refusals, toText } from "./encode-batch.ts";
import { Statements } from "./statement.ts";
import { toStorageFailure } from "./storage-failure.ts";

/** More than are ever under way at once. */
const REMEMBERED_BATCHES = 8;

/** Changes of a batch. The writer takes them over when the batch is committed. */
interface Changes {
  readonly heads: Map<RunNo, RunHead>;
  readonly pins: Set<string>;
  readonly events: EventRows;
}

type WriteEntry = (entry: EncodedEntry, changes: Changes) => Refusal | undefined;

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
  /** A batch that is tried again is one of the last. */
  readonly #lastBatches = new BoundedMap<string, Refusals>(REMEMBERED_BATCHES);

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
  append(batch: EncodedBatch, token?: string): Refusals {
    const known = token === undefined ? undefined : this.#lastBatches.get(token);
    if (known !== undefined) return known;
    const refusals = this.#append(batch);
    if (token !== undefined) this.#lastBatches.set(token, refusals);
    return refusals;
  }

  #append(batch: EncodedBatch): Refusals {
    try {
      return this.#commitBatch(batch, this.#writeEntry);
    } catch (error) {
      const failure = toStorageFailure(error, this.#path);
      if (failure !== undefined) throw failure;
    }
    return this.#appendOneByOne(batch);
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
  #appendOneByOne(batch: EncodedBatch): Refusals {
    this.#heads.clear();
    this.#pins.clear();
    this.#log = undefined;
    return this.#attempt(() => {
      this.#newestRun = this.#readNewestRun();
      return this.#commitBatch(batch, this.#writeEntryGuarded);
    });
  }

  #attempt<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw toStorageFailure(error, this.#path) ?? error;
    }
  }

  #commitBatch({ entries, rows }: EncodedBatch, write: WriteEntry): Refusals {
    const changes: Changes = { heads: new Map(), pins: new Set(), events: new EventRows(rows, this.#statements) };
    // Read before anything is written, because the batch continues it.
    const { open } = this.#log ?? { open: this.#readOpenPart() };
    const refusals = new Map<number, Refusal>();
    const written: EncodedEntry[] = [];
    this.#log = this.#statements.inTransaction(() => {
      for (const [index, entry] of entries.entries()) {
        const refusal = write(entry, changes);
        if (refusal === undefined) written.push(entry);
        else refusals.set(index, refusal);
      }
      changes.events.insertRest();
      const logged = logBatch(written, open);
      if (logged.commit !== undefined) this.#prepare(sql.INSERT_COMMIT).run(logged.commit.at, logged.commit.entries);
      return logged;
    });
    this.#remember(changes);
    return refusals;
  }

  readonly #writeEntry: WriteEntry = (entry, changes) => {
    const { run, at, count, create, patch, place, pins, outbox, violations, unfit } = entry;
    const head = changes.heads.get(run) ?? this.#findHead(run);
    const refusal = findRefusal(head, entry) ?? (unfit === undefined ? undefined : refused(unfit));
    const stop = refusal ?? (place?.whenFull === "skip" && create !== undefined ? this.#findFull(place) : undefined);
    if (stop !== undefined) {
      changes.events.skip(count);
      return stop;
    }
    if (create !== undefined) this.#prepare(sql.INSERT_RUN).run(...create);
    else if (patch !== undefined) this.#updateRun(run, patch);
    changes.events.insert(count);
    for (const row of violations ?? []) this.#prepare(sql.INSERT_VIOLATION).run(...row);
    const newPins = (pins ?? []).filter(({ hash }) => !this.#pins.has(hash) && !changes.pins.has(hash));
    for (const { hash, text } of newPins) this.#prepare(sql.INSERT_PIN).run(hash, text);
    for (const { kind, body } of outbox ?? []) this.#prepare(sql.INSERT_OUTBOX).run(run, kind, body, at);
    if (place !== undefined) this.#changePlace(run, place);

    // Last, because an entry that fails half-way must leave no trace in the batch.
    changes.heads.set(run, headAfter(head, entry));
    for (const { hash } of newPins) changes.pins.add(hash);
    return undefined;
  };

  readonly #writeEntryGuarded: WriteEntry = (entry, changes) => {
    const { events } = changes;
    const end = events.end + entry.count;
    this.#prepare("SAVEPOINT entry").run();
    try {
      const refusal = this.#writeEntry(entry, changes);
      events.insertRest();
      this.#prepare("RELEASE entry").run();
      return refusal;
    } catch (error) {
      if (toStorageFailure(error, this.#path) !== undefined) throw error;
      this.#prepare("ROLLBACK TO entry").run();
      this.#prepare("RELEASE entry").run();
      events.goOnAt(end);
      // Its last rows may have failed after it counted as written.
      changes.heads.delete(entry.run);
      for (const { hash } of entry.pins ?? []) changes.pins.delete(hash);
      const [, id] = entry.create ?? [];
      if (typeof id === "string" && this.#statements.query(sql.SELECT_RUN_BY_ID).get(id) !== undefined)
        return taken(id);
      return refused(error instanceof Error ? error.message : String(error));
    }
  };

  #findFull(place: RunPlace): Refusal | undefined {
    const { count = 0 } = this.#statements.query<{ count: number }>(sql.COUNT_PLACES).get(place.key) ?? {};
    return count < place.limit ? undefined : full(place);
  }

  /** Whoever gets a place by it goes on: it is looked for as any run that is due. */
  #changePlace(run: RunNo, { key, limit, whenFull, isOver }: NonNullable<RunPatch["place"]>): void {
    if (isOver) this.#prepare(sql.DELETE_PLACE).run(run);
    else this.#prepare(sql.INSERT_PLACE).run(run, key, limit, Number(whenFull === "cancelOlder"));
    const given = this.#statements.query<{ run_no: RunNo }>(sql.givePlaces("?1")).all(key);
    for (const { run_no: no } of given) this.#prepare(sql.GO_ON).run(no);
  }

  #updateRun(run: RunNo, patch: RunPatch): void {
    const { costMicro = null, status = null, parked, startedAt = null, completedAt = null, wakeAt, error } = patch;
    const { openApprovals = null, storedBytes = null } = patch;
    if (isOnlyAmounts(patch)) {
      this.#prepare(sql.PATCH_COST).run(costMicro, toUncertainColumn(patch.uncertainMicro), storedBytes, run);
      return;
    }
    this.#prepare(sql.PATCH_RUN).run(
      ...[
        costMicro,
        toUncertainColumn(patch.uncertainMicro),
        storedBytes,
        status,
        parked === undefined ? null : Number(parked),
        startedAt,
        completedAt,
        openApprovals,
      ],
      ...[Number(wakeAt !== undefined), wakeAt ?? null, Number(error !== undefined), toText(error), run],
    );
  }

  #findHead(run: RunNo): RunHead | undefined {
    const known = this.#heads.get(run);
    if (known !== undefined || run > this.#newestRun) return known;
    const row = this.#statements.query<RunRow>(sql.SELECT_RUN).get(run);
    return row === undefined ? undefined : toRunRecord(row);
  }

  #remember({ pins, heads }: Changes): void {
    for (const hash of pins) this.#pins.add(hash);
    for (const [run, head] of heads) {
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

/** The rows of a batch: those of entries one behind another are inserted together. */
class EventRows {
  readonly #rows: readonly SQLInputValue[];
  readonly #statements: Statements;
  /** Rows before it are inserted or skipped. */
  #begin = 0;
  /** Rows before it are those of entries that have been looked at. */
  #end = 0;

  constructor(rows: readonly SQLInputValue[], statements: Statements) {
    this.#rows = rows;
    this.#statements = statements;
  }

  get end(): number {
    return this.#end;
  }

  insert(count: number): void {
    this.#end += count;
    while (this.#end - this.#begin >= sql.EVENTS_AT_ONCE) this.#insertNext(sql.INSERT_EVENTS, sql.EVENTS_AT_ONCE);
  }

  skip(count: number): void {
    this.insertRest();
    this.goOnAt(this.#end + count);
  }

  insertRest(): void {
    while (this.#begin < this.#end) this.#insertNext(sql.INSERT_EVENT, 1);
  }

  goOnAt(end: number): void {
    this.#begin = end;
    this.#end = end;
  }

  #insertNext(text: string, count: number): void {
    const from = this.#begin * sql.EVENT_COLUMNS;
    this.#statements.prepare(text).run(...this.#rows.slice(from, from + count * sql.EVENT_COLUMNS));
    this.#begin += count;
  }
}

function isOnlyAmounts({
  costMicro: _,
  uncertainMicro: _uncertain,
  storedBytes: _stored,
  ...others
}: RunPatch): boolean {
  return Object.values(others).every((value) => value === undefined);
}
