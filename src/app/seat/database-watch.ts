import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
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
  /** A commit failed. It is tried again until it goes through: an answer to anything else does not say that it can. */
  #refused: PawlError | undefined;
  #unanswered: PawlError | undefined;
  #told: ErrorCode | undefined;

  constructor(journal: Journal, database: SqlDatabase) {
    this.#database = database;
    this.journal = {
      ...journal,
      append: (entries, token) =>
        journal.append(entries, token).then(
          (results) => {
            this.#refused = undefined;
            return results;
          },
          (error: unknown) => {
            this.#refused = toTrouble(error);
            throw error;
          },
        ),
    };
  }

  get trouble(): PawlError | undefined {
    return this.#refused ?? this.#unanswered;
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
    this.#unanswered = await this.#database.all("SELECT 1").then(() => undefined, toTrouble);
    this.#isLooking = false;
    const { trouble } = this;
    if (trouble?.code === this.#told) return;
    this.#told = trouble?.code;
    if (trouble === undefined) log.write("info", "storage: what is written is kept again");
    else log.write("error", `storage: ${trouble.code} ${trouble.message}`, { code: trouble.code });
  }
}

/** Other failures are those of what was asked, and the database is in order. */
function toTrouble(error: unknown): PawlError | undefined {
  return isPawlError(error) && isStorageFailure(error) ? error : undefined;
}
