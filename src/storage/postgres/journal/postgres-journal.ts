import { isStorageFailure } from "../../../core/errors/is-storage-failure.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import type { Append, AppendResult, ClaimedRun, Journal, RunNo, RunStatus } from "../../../ports/journal.ts";
import {
  factsOf,
  findRefusal,
  full,
  hasEnded,
  latestOf,
  MAX_EVENTS_PER_RUN,
  type Refusal,
  refused,
  taken,
} from "../../append-rule.ts";
import * as sql from "../../sql/journal-statements.ts";
import { rangeOf, SEQ_RANGE } from "../../sql/run-row.ts";
import type { Sql, SqlDatabase } from "../../sql/sql-database.ts";
import { refuseNewer } from "../look-after-database.ts";
import { migrate } from "../migrate.ts";
import { isInTheWay, toDatabaseFailure } from "../postgres-failure.ts";
import { toPostgresArray } from "../postgres-text.ts";
import { type BatchOwner, encodeBatch, toLog } from "./encode-batch.ts";
import { JOURNAL_MIGRATIONS, placeLock } from "./journal-migrations.ts";
import { createPostgresReader } from "./postgres-reader.ts";
import { type DriverOptions, RunClaims } from "./run-claims.ts";

export interface PostgresJournalOptions {
  readonly database: SqlDatabase;
  /** Absent: it claims no runs, and what it creates is driven by others. */
  readonly lease?: DriverOptions;
}

const APPEND = "SELECT pawl_append_3(?::text, ?::bigint, ?::text, ?::text, ?::json, ?::json, ?::json, ?::json)";

/** The number that the next transaction gets. */
const SELECT_NEXT = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next";

const RESERVE = "SELECT nextval('run_numbers') AS no FROM generate_series(1, ?::int)";

const SELECT_HEAD = "SELECT status, parked, epoch FROM runs WHERE no = ? FOR UPDATE";
const LOCK_PLACES = `SELECT ${placeLock("?::text")}`;
const SELECT_WORKER = "SELECT 1 AS alive FROM workers WHERE id = ? FOR KEY SHARE";

type HeadRow = {
  readonly status: RunStatus;
  readonly parked: number;
  readonly epoch: number;
};

/** A journal in a database that several processes write. */
export interface PostgresJournal extends Journal {
  /** The process, as the runs that it drives name it now. Null: it drives none. */
  readonly owner: string | null;
  /** The processes that drive runs and are not known to be dead. */
  listWorkers(): Promise<readonly string[]>;
}

/** Opens the journal, and brings its tables up to date. Throws `JOURNAL_NEWER`, `JOURNAL_IO`. */
export async function openPostgresJournal({ database, lease }: PostgresJournalOptions): Promise<PostgresJournal> {
  await refuseNewer(database);
  await migrate(database, JOURNAL_MIGRATIONS);
  const claims = new RunClaims(database);
  const writer = new PostgresWriter(database, claims);
  await writer.begin();
  if (lease !== undefined) await claims.drive(lease);
  return {
    ...createPostgresReader(database),
    get owner() {
      return claims.owner;
    },
    async listWorkers() {
      return (await database.all<{ readonly id: string }>("SELECT id FROM workers")).map(({ id }) => id);
    },
    commitsAtOnce: 2,
    reserveRun: () => writer.reserveRun(),
    append: (entries, token) => writer.append(entries, token),
    claim: (run) => writer.claim(run),
    claimDue: (options) => claims.claimDue(options),
    release: (runs, untouched) => writer.release(runs, untouched),
    finishOutbox: (ids) => writer.finishOutbox(ids),
    deleteRun: (run) => writer.deleteRun(run),
    close: () => claims.close(),
  };
}

/**
 * The writing calls. A run is written by the process that has claimed it and is not dead to the others: its own row, locked in
 * each batch, says so. A batch is one statement; only where that fails is it done again entry by entry, in one transaction.
 */
class PostgresWriter implements BatchOwner {
  readonly #database: SqlDatabase;
  readonly #claims: RunClaims;
  /** Nothing is let go of while something of it is being written. */
  #appending: Promise<unknown> = Promise.resolve();
  #releasing: Promise<unknown> = Promise.resolve();
  /** No commit of this process has a smaller number. */
  #firstTx = 0;
  /** Those who wait for the number of a run. */
  #waiting: PromiseWithResolvers<RunNo>[] = [];
  /** Batches of which nobody knows whether they were written. */
  readonly #unsure = new Set<string>();

  constructor(database: SqlDatabase, claims: RunClaims) {
    this.#database = database;
    this.#claims = claims;
  }

  async begin(): Promise<void> {
    this.#firstTx = (await this.#database.get<{ readonly next: number }>(SELECT_NEXT))?.next ?? 0;
  }

  get id(): string | null {
    return this.#claims.owner;
  }

  epochOf(run: RunNo): number {
    return this.#claims.epochOf(run);
  }

  /** Those who ask in one turn are answered by one statement. */
  reserveRun(): Promise<RunNo> {
    const asked = Promise.withResolvers<RunNo>();
    this.#waiting.push(asked);
    if (this.#waiting.length === 1) setImmediate(() => void this.#reserve(this.#waiting.splice(0)));
    return asked.promise;
  }

  async #reserve(waiting: readonly PromiseWithResolvers<RunNo>[]): Promise<void> {
    try {
      const rows = await this.#database.all<{ readonly no: RunNo }>(RESERVE, waiting.length);
      for (const [index, { no }] of rows.entries()) waiting[index]?.resolve(no);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  append(entries: readonly Append[], token: string | undefined): Promise<readonly AppendResult[]> {
    const appending = this.#append(entries, token);
    this.#appending = Promise.allSettled([this.#appending, appending]);
    return appending;
  }

  async #append(entries: readonly Append[], token: string | undefined): Promise<readonly AppendResult[]> {
    if (entries.length === 0) return [];
    try {
      const results = await this.#write(entries, token);
      if (token !== undefined) this.#unsure.delete(token);
      return results;
    } catch (error) {
      if (token !== undefined) this.#unsure.add(token);
      throw error;
    }
  }

  async #write(entries: readonly Append[], token: string | undefined): Promise<readonly AppendResult[]> {
    // A batch that was tried before may have been written by then. One that is being written is met by the keys of its events.
    const known =
      token !== undefined && this.#unsure.has(token) ? await this.#findBatch(this.#database, token) : undefined;
    if (known !== undefined) return this.#noteAll(entries, toResults(entries, known));
    if (isUsual(entries) && entries.every((entry) => this.#claims.follows(entry))) {
      try {
        await this.#database.all(APPEND, ...encodeBatch(entries, token ?? null, this));
        for (const entry of entries) this.#claims.note(entry);
        return entries.map(() => ({ ok: true }));
      } catch (error) {
        if (isStorageFailure(error)) throw error;
      }
    }
    return this.#appendOneByOne(entries, token);
  }

  #findBatch(database: Sql, token: string): Promise<CommitRow | undefined> {
    return database.get<CommitRow>(SELECT_BATCH, this.#firstTx, token);
  }

  #noteAll(entries: readonly Append[], results: readonly AppendResult[]): readonly AppendResult[] {
    for (const [index, entry] of entries.entries()) if (results[index]?.ok === true) this.#claims.note(entry);
    return results;
  }

  /** An entry is not as it should be, or the batch was written before. */
  async #appendOneByOne(entries: readonly Append[], token: string | undefined): Promise<readonly AppendResult[]> {
    const owner = this.id;
    const results = await this.#database.transaction(async (within) => {
      if (owner !== null && (await within.get(SELECT_WORKER, owner)) === undefined) return undefined;
      const known = token === undefined ? undefined : await this.#findBatch(within, token);
      if (known !== undefined) return toResults(entries, known);
      const made: AppendResult[] = [];
      const created = new Set<RunNo>();
      for (const entry of entries) {
        const result = await this.#appendOne(within, entry, created);
        if (result.ok && entry.create !== undefined) created.add(entry.run);
        made.push(result);
      }
      const accepted = entries.filter((_, index) => made[index]?.ok);
      const at = latestOf(accepted);
      const refusals = made.map((result) => (result.ok ? null : result));
      await within.run(INSERT_BATCH, token ?? null, at, toLog(accepted), writeExact(refusals));
      return made;
    });
    if (results === undefined) {
      // Others have taken over everything. With another name it may begin runs again.
      await this.#claims.look();
      if (this.id !== owner) return this.#appendOneByOne(entries, token);
      return entries.map(({ run }) => fenced(run));
    }
    return this.#noteAll(entries, results);
  }

  async #appendOne(within: Sql, entry: Append, created: ReadonlySet<RunNo>): Promise<AppendResult> {
    const { run, create } = entry;
    const row = await within.get<HeadRow>(SELECT_HEAD, run);
    // In a statement of its own: the lock may have waited for one that wrote more.
    const last = await within.get<{ readonly id: number | null }>(sql.SELECT_LAST_EVENT, ...rangeOf(run));
    const lastSeq = typeof last?.id === "number" ? last.id - run * SEQ_RANGE : 0;
    const head = row === undefined ? undefined : { ...row, parked: row.parked !== 0, lastSeq };
    const epoch = created.has(run) ? 1 : this.epochOf(run);
    // Another process may have ended by now what this one has driven.
    const mayBeOthers = head !== undefined && (!hasEnded(head.status) || this.#claims.drives(run));
    if (mayBeOthers && create === undefined && head.epoch !== epoch) return fenced(run);
    const refusal = findRefusal(head, factsOf(entry));
    if (refusal !== undefined) return refusal;
    if (create !== undefined && (await within.get(sql.SELECT_RUN_BY_ID, create.id)) !== undefined)
      return taken(create.id);
    const place = create === undefined ? undefined : entry.patch?.place;
    if (place?.whenFull === "skip") {
      await within.all(LOCK_PLACES, place.key);
      const { count = 0 } = (await within.get<{ readonly count: number }>(sql.COUNT_PLACES, place.key)) ?? {};
      if (count >= place.limit) return full(place);
    }
    await within.run("SAVEPOINT entry");
    try {
      const owner = { id: this.id, epochOf: () => epoch };
      const [, at = 0, , ...rest] = encodeBatch([entry], null, owner);
      await within.all(APPEND, null, at, null, ...rest);
      await within.run("RELEASE SAVEPOINT entry");
      return { ok: true };
    } catch (error) {
      // What the server cannot do now says nothing about the entry.
      if (isInTheWay(error) || toDatabaseFailure(error, "") !== undefined || !(error instanceof Error)) throw error;
      await within.run("ROLLBACK TO SAVEPOINT entry");
      return refused(error.message);
    }
  }

  release(...released: Parameters<Journal["release"]>): Promise<void> {
    const releasing = this.#appending.then(() => this.#claims.release(...released));
    this.#releasing = Promise.allSettled([this.#releasing, releasing]);
    return releasing;
  }

  /** What is about to be let go of is not this process's any more, though it still knows it. */
  async claim(run: RunNo): Promise<ClaimedRun | undefined> {
    await this.#releasing;
    return this.#claims.claim(run);
  }

  async finishOutbox(ids: readonly number[]): Promise<void> {
    await this.#database.run("UPDATE outbox SET done = 1 WHERE id = ANY(?::bigint[])", toPostgresArray(ids));
  }

  async deleteRun(run: RunNo): Promise<boolean> {
    return this.#database.transaction(async (within) => {
      const head = await within.get<HeadRow>(SELECT_HEAD, run);
      if (head === undefined || !hasEnded(head.status)) return false;
      await within.run(sql.DELETE_EVENTS, ...rangeOf(run));
      await within.run(sql.EMPTY_OUTBOX, run);
      await within.run(sql.DELETE_VIOLATIONS, run);
      await within.run(sql.INSERT_DELETED_RUN, run);
      await within.run(sql.DELETE_RUN, run);
      return true;
    });
  }
}

interface CommitRow {
  readonly refusals: string | null;
}

/** Only what was committed since this process began: tokens are its own, and have no index that each commit would pay for. */
const SELECT_BATCH = "SELECT refusals FROM commits WHERE tx >= ? AND token = ? ORDER BY tx DESC LIMIT 1";

const INSERT_BATCH = `INSERT INTO commits (tx, token, at, entries, refusals)
  VALUES (pg_current_xact_id()::text::bigint, ?, ?, ?, ?)`;

/** What a batch was answered when it was written. */
function toResults(entries: readonly Append[], { refusals }: CommitRow): readonly AppendResult[] {
  const known: readonly (Refusal | null)[] = refusals === null ? [] : parseExact(refusals);
  return entries.map((_, index) => known[index] ?? { ok: true });
}

/** One statement changes a row once, and knows no limit. */
function isUsual(entries: readonly Append[]): boolean {
  const isShort = ({ afterSeq, create, events, patch }: Append) =>
    afterSeq + events.length <= MAX_EVENTS_PER_RUN &&
    (create === undefined || (afterSeq === 0 && patch?.place?.whenFull !== "skip"));
  return (
    entries.every(isShort) && (entries.length === 1 || new Set(entries.map(({ run }) => run)).size === entries.length)
  );
}

function fenced(run: RunNo): Refusal {
  return { ok: false, reason: "fenced", message: `Another process has taken over run number ${run}.` };
}
