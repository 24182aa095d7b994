import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { makeFile, makeFolder } from "../../make-folder.ts";
import { Statements } from "../statement.ts";
import { toReadFailure, toStorageFailure } from "../storage-failure.ts";
import { BUSY_TIMEOUT_MS } from "../wait-out-locks.ts";

export interface DatabaseOptions {
  readonly path: string;
  readonly durability: "power" | "process";
}

/** How long opening waits for another process that holds a lock of the file. */
const OPENING_TIMEOUT_MS = 5_000;

type Input = readonly SQLInputValue[];

/** As SQLite calls it. */
const IN_MEMORY = ":memory:";

/**
 * The open file of the service. Where the file fails as a whole (it is locked, full, damaged, gone) this is an error that
 * a user can do something about, and that callers may wait out: `JOURNAL_IO`, `JOURNAL_FULL`, `JOURNAL_DAMAGED`.
 */
export class ServiceDatabase {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #statements: Statements;
  readonly #watchers: (() => void)[] = [];

  /** Opens a file that every process may write, a moment at a time, and makes it where it is missing. */
  static open({ path, durability }: DatabaseOptions, prepare: (database: DatabaseSync) => void): ServiceDatabase {
    try {
      makeFolder(dirname(path));
      if (path !== IN_MEMORY) makeFile(path);
      const database = new DatabaseSync(path);
      database.exec(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
      database.exec("PRAGMA journal_mode = WAL");
      database.exec(`PRAGMA synchronous = ${durability === "power" ? "FULL" : "NORMAL"}`);
      prepare(database);
      database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      return new ServiceDatabase(database, path);
    } catch (error) {
      throw toReadFailure(error, path);
    }
  }

  private constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#statements = new Statements(database);
  }

  /** Returns how many rows have changed. */
  run(text: string, ...parameters: Input): number {
    this.tellWritten();
    return this.#attempt(() => Number(this.#statements.prepare(text).run(...parameters).changes));
  }

  /** The first row. Its type is the promise of the SQL text. */
  get<Row>(text: string, ...parameters: Input): Row | undefined {
    return this.#attempt(() => this.#statements.prepare(text).get(...parameters)) as Row | undefined;
  }

  all<Row>(text: string, ...parameters: Input): readonly Row[] {
    return this.#attempt(() => this.#statements.prepare(text).all(...parameters)) as unknown as readonly Row[];
  }

  /** All of it or nothing; no other process writes in between. */
  together<T>(act: () => T): T {
    return this.#attempt(() => this.#statements.inTransaction(act));
  }

  /** `written` is called whenever this process writes the file. */
  whenWritten(written: () => void): void {
    this.#watchers.push(written);
  }

  /** For who has written it by another connection. */
  tellWritten(): void {
    for (const written of this.#watchers) written();
  }

  /** Changes whenever another connection has written the file. */
  readVersion(): number | undefined {
    return this.get<{ readonly data_version: number }>("PRAGMA data_version")?.data_version;
  }

  close(): void {
    this.#database.close();
  }

  #attempt<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw toStorageFailure(error, this.#path) ?? error;
    }
  }
}
