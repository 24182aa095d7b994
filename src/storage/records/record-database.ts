import type { Sql, SqlDatabase, SqlValue } from "../sql/sql-database.ts";

/** What is not the same for all databases. */
export interface RecordTraits {
  /** Another answer: somebody else may have written meanwhile. */
  readMark(): Promise<unknown>;
  /** An expression for the time in milliseconds where processes may disagree about it. Else NULL. */
  readonly serverTime: string;
  /** Leaves out rows that another process is changing, behind a query. */
  readonly skipLocked: string;
}

/** The database of records, with what a cache of reads must know: when it has been written. */
export class RecordDatabase implements SqlDatabase {
  readonly #inner: SqlDatabase;
  readonly #watchers: (() => void)[] = [];
  readonly traits: RecordTraits;

  constructor(inner: SqlDatabase, traits: RecordTraits) {
    this.#inner = inner;
    this.traits = traits;
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

  async transaction<T>(act: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inner.transaction(act).finally(() => this.tellWritten());
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
