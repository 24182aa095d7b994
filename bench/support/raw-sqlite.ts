import { DatabaseSync, type StatementSync } from "node:sqlite";

/** The floor: the same rows, inserted by a prepared statement and nothing else. */
export class RawSqlite {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  #id = 0;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    this.#database.exec(`CREATE TABLE events(id INTEGER PRIMARY KEY, type TEXT NOT NULL, path TEXT, attempt INTEGER,
      at INTEGER NOT NULL, cost_micro INTEGER, body TEXT, value TEXT)`);
    this.#insert = this.#database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  }

  /** Inserts `rows` rows in commits of `rowsPerCommit`; returns milliseconds. */
  insert(rows: number, rowsPerCommit: number, valueBytes = 4): number {
    const body = `{"startedAt":${Date.now()},"inputHash":"dCNOmK_nSY-12vHzasLXis"}`;
    const value = valueBytes <= 4 ? "true" : JSON.stringify("x".repeat(valueBytes));
    const startedAt = performance.now();
    for (let from = 0; from < rows; from += rowsPerCommit) {
      this.#database.exec("BEGIN IMMEDIATE");
      for (let i = from; i < Math.min(rows, from + rowsPerCommit); i += 1) {
        this.#id += 1;
        this.#insert.run(this.#id, "stepSucceeded", `s${i}`, 1, Date.now(), null, body, value);
      }
      this.#database.exec("COMMIT");
    }
    return performance.now() - startedAt;
  }

  close(): void {
    this.#database.close();
  }
}
