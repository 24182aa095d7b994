import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal } from "../../ports/journal.ts";
import type { Log } from "../../ports/log.ts";
import type { SqlDatabase } from "../../storage/sql/sql-database.ts";
import type { StorageWatch } from "./seat.ts";

const LOOK_EVERY_MS = 1_000;

/** Looks whether a database answers, and takes note of commits that it refuses. */
export class DatabaseWatch implements StorageWatch {
  /** The same journal, whose failures are noted. */
  readonly journal: Journal;
  readonly #database: SqlDatabase;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  trouble: PawlError | undefined;

  constructor(journal: Journal, database: SqlDatabase) {
    this.#database = database;
    this.journal = {
      ...journal,
      append: (entries, token) =>
        journal.append(entries, token).catch((error: unknown) => {
          this.trouble = isPawlError(error) ? error : this.trouble;
          throw error;
        }),
    };
  }

  start(log: Log): void {
    this.#timer ??= setInterval(() => void this.#look(log), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(log: Log): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const before = this.trouble?.code;
    try {
      await this.#database.all("SELECT 1");
      this.trouble = undefined;
    } catch (error) {
      this.trouble = isPawlError(error) ? error : this.trouble;
    } finally {
      this.#isLooking = false;
    }
    if (this.trouble?.code === before) return;
    if (this.trouble === undefined) log.write("info", "storage: what is written is kept again");
    else log.write("error", `storage: ${this.trouble.code} ${this.trouble.message}`, { code: this.trouble.code });
  }
}
