import type { Sql, SqlDatabase, SqlValue } from "../sql/sql-database.ts";

/** The database of records, with what a cache of reads must know: when it has been written. */
export class RecordDatabase implements SqlDatabase {
  readonly #inner: SqlDatabase;
  readonly #watchers: (() => void)[] = [];
  /** Another answer: somebody else may have written meanwhile. */
  readonly readMark: () => Promise<unknown>;

  constructor(inner: SqlDatabase, readMark: () => Promise<unknown>) {
    this.#inner = inner;
    this.readMark = readMark;
  }

  async run(text: string, ...parameters: readonly SqlValue[]): Promise<number> {
    // A write that failed may have been done nevertheless.
    return this.#inner.run(text, ...parameters).finally(() => this.tellWritten());
  }

  async get<Row>(text: string, ...parameters: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#inner.get<Row>(text, ...parameters);
  }

  async all<Row>(text: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#inner.all<Row>(text, ...parameters);
  }

  async together<T>(act: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inner.together(act).finally(() => this.tellWritten());
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  /** `written` is called after each write of this process. */
  whenWritten(written: () => void): void {
    this.#watchers.push(written);
  }

  /** For a caller that has written by another connection. */
  tellWritten(): void {
    for (const written of this.#watchers) written();
  }
}
