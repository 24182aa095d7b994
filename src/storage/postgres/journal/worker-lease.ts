import { randomUUID } from "node:crypto";
import { isStorageFailure } from "../../../core/errors/is-storage-failure.ts";
import { UNFINISHED } from "../../sql/journal-statements.ts";
import type { SqlDatabase } from "../../sql/sql-database.ts";

export interface LeaseOptions {
  readonly database: SqlDatabase;
  /** How long a process that says nothing counts as alive, in milliseconds. */
  readonly leaseMs: number;
  /** Others have taken its runs: nothing that it drives is its own any more. */
  lost(): void;
  failed(error: unknown): void;
}

const BEATS_IN_A_LEASE = 4;

const UNTIL = "now() + ? * interval '1 millisecond'";

const BEAT = `UPDATE workers SET seen_at = now(), until = ${UNTIL} WHERE id = ?`;

const REAP = "SELECT pawl_reap_1(?::bigint)";

/**
 * The sign of life of a process that drives runs. All times are the server's, so that clocks that differ harm nobody. A process
 * that was stopped for longer than its lease gets another id: it begins anew.
 */
export class WorkerLease {
  readonly #options: LeaseOptions;
  #id: string;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(options: LeaseOptions) {
    this.#options = options;
    this.#id = randomUUID();
  }

  static async take(options: LeaseOptions): Promise<WorkerLease> {
    const lease = new WorkerLease(options);
    await lease.#enter();
    lease.#timer = setInterval(() => lease.#schedule(), options.leaseMs / BEATS_IN_A_LEASE);
    lease.#timer.unref();
    return lease;
  }

  get id(): string {
    return this.#id;
  }

  /** Resolves when the processes that had died by now have lost their runs. */
  beat(): Promise<void> {
    this.#schedule();
    return this.#beating;
  }

  /** Its runs belong to nobody from now on; where that cannot be written, when the lease is over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#beating;
    const { database, failed } = this.#options;
    try {
      await database.transaction(async (sql) => {
        const freed = `UPDATE runs SET owner = NULL, epoch = epoch + 1, lost_at = NULL WHERE owner = ? AND ${UNFINISHED}`;
        await sql.run(freed, this.#id);
        await sql.run("DELETE FROM workers WHERE id = ?", this.#id);
      });
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      failed(error);
    }
  }

  async #enter(): Promise<void> {
    const { database, leaseMs } = this.#options;
    await database.run(`INSERT INTO workers (id, seen_at, until) VALUES (?, now(), ${UNTIL})`, this.#id, leaseMs);
    await this.#beat();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#beating = this.#beating.then(() => this.#beat()).catch((error: unknown) => this.#options.failed(error));
  }

  async #beat(): Promise<void> {
    const { database, leaseMs, lost } = this.#options;
    if ((await database.run(BEAT, leaseMs, this.#id)) === 0) {
      this.#id = randomUUID();
      lost();
      return this.#enter();
    }
    await database.all(REAP, leaseMs);
  }
}
