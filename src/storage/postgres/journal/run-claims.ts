import { writeExact } from "../../../core/exact-json.ts";
import type { Append, ClaimedRun, Journal, RunNo } from "../../../ports/journal.ts";
import { hasEnded } from "../../append-rule.ts";
import { SELECT_RUN, UNFINISHED } from "../../sql/journal-statements.ts";
import { RUN_COLUMNS, type RunRow, toRunRecord } from "../../sql/run-row.ts";
import type { SqlDatabase } from "../../sql/sql-database.ts";
import { toPostgresArray } from "../postgres-text.ts";
import { mayDrive } from "./journal-migrations.ts";
import { WorkerLease } from "./worker-lease.ts";

export interface DriverOptions {
  readonly leaseMs: number;
  /** The workflows whose functions this process has. Default: none. */
  programs?(): readonly string[];
  /** It drives runs of no program too. Default: true. */
  readonly others?: boolean;
  /** Others drive the runs that this process has driven. */
  lost(): void;
  failed(error: unknown): void;
}

/** What was asked for over a connection that was cut may be done at any time after that. */
const LOOK_EVERY_MS = 5_000;

const CLAIMED_COLUMNS = `${RUN_COLUMNS}, epoch, lost_at AS "lostAt"`;

/** Not by a process that others have taken for dead: nobody would ever look for what it claims. */
const CLAIM = `WITH alive AS (SELECT id FROM workers WHERE id = ?1 FOR KEY SHARE),
    free AS (SELECT no FROM runs WHERE no = ?2 AND owner IS NULL AND ${UNFINISHED} AND ${mayDrive("?3::json", "?4::boolean")}
      FOR UPDATE SKIP LOCKED)
  UPDATE runs SET owner = ?1, epoch = epoch + 1 WHERE no IN (SELECT no FROM free) AND EXISTS (SELECT 1 FROM alive)
  RETURNING ${CLAIMED_COLUMNS}`;

const CLAIM_DUE =
  "SELECT pawl_claim_due_3(?::text, ?::bigint, ?::bigint, ?::bigint, ?::bigint[], ?::json, ?::boolean) AS no";

const SELECT_CLAIMED = `SELECT ${CLAIMED_COLUMNS} FROM runs WHERE no = ANY(?::bigint[]) AND owner = ?`;

const SELECT_OWN = `SELECT ${CLAIMED_COLUMNS} FROM runs WHERE owner = ? AND ${UNFINISHED} ORDER BY no`;

const RELEASE = `UPDATE runs SET owner = NULL, epoch = epoch + CASE WHEN no = ANY(?::bigint[]) THEN 0 ELSE 1 END, lost_at = NULL
  WHERE no = ANY(?::bigint[]) AND owner = ? AND ${UNFINISHED}`;

/** A run begins with the epoch 1, and whoever lets go of it raises it before the next one claims it. */
const FIRST_CLAIM = 2;

interface DrivenRun {
  readonly epoch: number;
  readonly lastSeq: number;
  /** In which state it was claimed. Absent: this process has written something of it since. */
  readonly found?: Pick<ClaimedRun, "lostAt" | "isNew">;
}

type ClaimedRow = RunRow & { readonly epoch: number; readonly lostAt: number | null };

/** The runs that this process drives, as it knows them. */
export class RunClaims {
  readonly #database: SqlDatabase;
  readonly #driven = new Map<RunNo, DrivenRun>();
  #lease: WorkerLease | undefined;
  #mayDrive = (): readonly [programs: string, others: string] => ["[]", "true"];
  /** When it looks next for runs that it owns without knowing. */
  #looksAt = 0;
  readonly #changing = new Set<Promise<unknown>>();
  #searching: Promise<void> | undefined;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** From now on it claims runs, and what it creates is its own. */
  async drive({ leaseMs, programs = () => [], others = true, lost, failed }: DriverOptions): Promise<void> {
    this.#mayDrive = () => [writeExact(programs()), String(others)];
    const forget = () => {
      this.#driven.clear();
      lost();
    };
    this.#lease = await WorkerLease.take({ database: this.#database, leaseMs, lost: forget, failed });
  }

  /** The process, as its runs name it now. Null: it drives none. */
  get owner(): string | null {
    return this.#lease?.id ?? null;
  }

  /** Resolves when it is known whether others have taken everything over. */
  async look(): Promise<void> {
    await this.#lease?.beat();
  }

  drives(run: RunNo): boolean {
    return this.#driven.has(run);
  }

  epochOf(run: RunNo): number {
    return this.#driven.get(run)?.epoch ?? 0;
  }

  /** Whether the entry comes next, as far as this process knows. */
  follows({ run, create, afterSeq }: Append): boolean {
    return create !== undefined || this.#driven.get(run)?.lastSeq === afterSeq;
  }

  /** The entry was written. */
  note({ run, create, patch, afterSeq, events }: Append): void {
    const lastSeq = afterSeq + events.length;
    const driven = this.#driven.get(run);
    if (patch?.status !== undefined && hasEnded(patch.status)) this.#driven.delete(run);
    else if (create !== undefined) this.#driven.set(run, { epoch: 1, lastSeq });
    else if (driven !== undefined) this.#driven.set(run, { epoch: driven.epoch, lastSeq });
  }

  async claim(run: RunNo): Promise<ClaimedRun | undefined> {
    const { owner } = this;
    if (owner === null) return undefined;
    const driven = this.#driven.get(run);
    if (driven !== undefined) {
      const row = await this.#database.get<RunRow>(SELECT_RUN, run);
      return row === undefined ? undefined : { ...toRunRecord(row), lostAt: null, ...driven.found };
    }
    const row = await this.#changeOwner(() => this.#database.get<ClaimedRow>(CLAIM, owner, run, ...this.#mayDrive()));
    return row === undefined ? undefined : this.#toClaimed(row);
  }

  async claimDue({ now, afterRun, limit, only }: Parameters<Journal["claimDue"]>[0]): Promise<readonly ClaimedRun[]> {
    const { owner } = this;
    if (owner === null) return [];
    const strays = performance.now() >= this.#looksAt ? await this.#findStrays(owner) : [];
    if (strays.length > 0) return strays;
    const chosen = only === undefined ? null : toPostgresArray(only);
    const rows = await this.#changeOwner(async () => {
      const wanted = [owner, now, afterRun, limit, chosen, ...this.#mayDrive()];
      const due = await this.#database.all<{ readonly no: RunNo }>(CLAIM_DUE, ...wanted);
      if (due.length === 0) return [];
      const numbers = toPostgresArray(due.map(({ no }) => no));
      // In a statement of its own: what the one before has changed is not seen in it.
      return this.#database.all<ClaimedRow>(SELECT_CLAIMED, numbers, owner);
    });
    return rows.map((row) => this.#toClaimed(row)).sort((a, b) => a.no - b.no);
  }

  /** A connection that is cut tells nobody whether the statement was done. Then this process may own runs that it does not know, at once or later. */
  async #changeOwner<T>(change: () => Promise<T>): Promise<T> {
    while (this.#searching !== undefined) await this.#searching;
    const changing = change();
    this.#changing.add(changing);
    try {
      return await changing;
    } catch (error) {
      this.#looksAt = 0;
      throw error;
    } finally {
      this.#changing.delete(changing);
    }
  }

  /** The runs that this process owns and does not know. Nothing is claimed or let go of meanwhile. */
  async #findStrays(owner: string): Promise<readonly ClaimedRun[]> {
    this.#looksAt = performance.now() + LOOK_EVERY_MS;
    const found = Promise.withResolvers<void>();
    this.#searching = found.promise;
    try {
      await Promise.allSettled(this.#changing);
      const rows = await this.#database.all<ClaimedRow>(SELECT_OWN, owner);
      return rows.filter(({ no }) => !this.#driven.has(no)).map((row) => this.#toClaimed(row));
    } catch (error) {
      this.#looksAt = 0;
      throw error;
    } finally {
      this.#searching = undefined;
      found.resolve();
    }
  }

  #toClaimed({ epoch, lostAt, ...row }: ClaimedRow): ClaimedRun {
    const found = { lostAt, ...(epoch === FIRST_CLAIM ? { isNew: true as const } : {}) };
    this.#driven.set(row.no, { epoch, lastSeq: row.lastSeq, found });
    return { ...toRunRecord(row), ...found };
  }

  /** Those that it does not drive are passed over. */
  async release(runs: readonly RunNo[], untouched: readonly RunNo[] = []): Promise<void> {
    const { owner } = this;
    const held = runs.filter((run) => this.#driven.delete(run));
    if (owner === null || held.length === 0) return;
    await this.#changeOwner(() =>
      this.#database.run(RELEASE, toPostgresArray(untouched), toPostgresArray(held), owner),
    );
  }

  async close(): Promise<void> {
    this.#driven.clear();
    await this.#lease?.close();
  }
}
