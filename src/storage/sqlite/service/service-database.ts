import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { toStorageFailure } from "../storage-failure.ts";

type Input = readonly SQLInputValue[];

/** A prepared statement whose failures tell what is wrong with the file. */
export interface ServiceStatement {
  run(...parameters: Input): { readonly changes: number | bigint };
  get(...parameters: Input): Record<string, SQLOutputValue> | undefined;
  all(...parameters: Input): readonly Record<string, SQLOutputValue>[];
}

/**
 * The open file of the service. Where the file fails as a whole (it is held by somebody, full, damaged, gone) this is an
 * error that a user can do something about, and that callers may wait out: `JOURNAL_IO`, `JOURNAL_FULL`, `JOURNAL_DAMAGED`.
 */
export class ServiceDatabase {
  readonly #database: DatabaseSync;
  readonly #path: string;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  prepare(text: string): ServiceStatement {
    const statement = this.#attempt(() => this.#database.prepare(text));
    return {
      run: (...parameters) => this.#attempt(() => statement.run(...parameters)),
      get: (...parameters) => this.#attempt(() => statement.get(...parameters)),
      all: (...parameters) => this.#attempt(() => statement.all(...parameters)),
    };
  }

  /** All of it or nothing; no other process writes in between. */
  together<T>(act: () => T): T {
    this.#exec("BEGIN IMMEDIATE");
    try {
      const result = act();
      this.#exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  #exec(text: string): void {
    this.#attempt(() => this.#database.exec(text));
  }

  #rollBack(): void {
    try {
      this.#database.exec("ROLLBACK");
    } catch {
      // Where the disk is full or fails SQLite has done so itself; what it said before is what counts.
    }
  }

  #attempt<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw toStorageFailure(error, this.#path) ?? error;
    }
  }
}
