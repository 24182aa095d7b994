import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { PawlError } from "../../core/errors/pawl-error.ts";
import { SEQ_RANGE } from "../sql/run-row.ts";
import type { Mark } from "./commit-mark.ts";
import { toStorageFailure } from "./storage-failure.ts";
import { isLocked } from "./wait-out-locks.ts";

/** Asks whether a file could be written now, without writing and without waiting. */
export class LockProbe {
  readonly #path: string;
  #database: DatabaseSync | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined: it could, or there is no file yet. */
  find(): PawlError | undefined {
    try {
      if (this.#database === undefined && !existsSync(this.#path)) return undefined;
      this.#database ??= new DatabaseSync(this.#path, { timeout: 0 });
      this.#database.exec("BEGIN IMMEDIATE; ROLLBACK");
      return undefined;
    } catch (error) {
      return toStorageFailure(error, this.#path);
    }
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}

/** Whether a reader that has seen nothing of a journal so far finds an event in it. */
export function isReadable(path: string, { run, seq }: Mark): boolean {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return database.prepare("SELECT 1 FROM events WHERE id = ?").get(run * SEQ_RANGE + seq) !== undefined;
    } finally {
      database.close();
    }
  } catch (error) {
    // Nobody can say before the lock is free.
    return isLocked(error);
  }
}
