import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFile, makeFolder } from "../make-folder.ts";
import type { Sql, SqlDatabase, SqlValue } from "../sql/sql-database.ts";
import { Statements } from "./statement.ts";
import { toReadFailure, toStorageFailure } from "./storage-failure.ts";
import { BUSY_TIMEOUT_MS, waitOutLocks } from "./wait-out-locks.ts";

export interface DatabaseOptions {
  readonly path: string;
  readonly durability: "power" | "process";
}

/** How long opening waits for another process that holds a lock of the file. */
const OPENING_TIMEOUT_MS = 5_000;

/** As SQLite calls it. */
const IN_MEMORY = ":memory:";

/** A file that every process may write, a moment at a time. A lock of another process is waited out. */
export class SqliteDatabase implements SqlDatabase {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #statements: Statements;
  readonly #sql: Sql;
  /** There is one connection, so that a transaction is not over before others may use it. */
  #last: Promise<unknown> = Promise.resolve();

  /** Makes the file where it is missing. Throws `JOURNAL_IO`, `JOURNAL_FULL` or `JOURNAL_DAMAGED` with the path. */
  static open({ path, durability }: DatabaseOptions, prepare: (database: DatabaseSync) => void): SqliteDatabase {
    try {
      makeFolder(dirname(path));
      if (path !== IN_MEMORY) makeFile(path);
      const database = new DatabaseSync(path);
      database.exec(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
      database.exec("PRAGMA journal_mode = WAL");
      database.exec(`PRAGMA synchronous = ${durability === "power" ? "FULL" : "NORMAL"}`);
      prepare(database);
      database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      return waitOutLocks(new SqliteDatabase(database, path));
    } catch (error) {
      throw toReadFailure(error, path);
    }
  }

  private constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    const statements = new Statements(database);
    this.#statements = statements;
    this.#sql = {
      run: async (text, ...parameters) => Number(statements.prepare(text).run(...parameters).changes),
      get: async <Row>(text: string, ...parameters: readonly SqlValue[]) =>
        statements.prepare(text).get(...parameters) as Row | undefined,
      all: async <Row>(text: string, ...parameters: readonly SqlValue[]) =>
        statements.prepare(text).all(...parameters) as unknown as readonly Row[],
    };
  }

  async run(text: string, ...parameters: readonly SqlValue[]): Promise<number> {
    return this.#inTurn(() => this.#sql.run(text, ...parameters));
  }

  async get<Row>(text: string, ...parameters: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#inTurn(() => this.#sql.get<Row>(text, ...parameters));
  }

  async all<Row>(text: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#inTurn(() => this.#sql.all<Row>(text, ...parameters));
  }

  async transaction<T>(act: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      this.#statements.begin();
      try {
        const result = await act(this.#sql);
        this.#statements.commit();
        return result;
      } catch (error) {
        this.#statements.rollBack();
        throw error;
      }
    });
  }

  /** Another number: another connection has written the file. */
  async readVersion(): Promise<number | undefined> {
    return (await this.get<{ readonly data_version: number }>("PRAGMA data_version"))?.data_version;
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => this.#database.close());
  }

  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act);
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      throw toStorageFailure(error, this.#path) ?? error;
    }
  }
}
