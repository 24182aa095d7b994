export type SqlValue = string | number | bigint | null;

/** Statements with `?` for parameters. Texts are ours, never text that somebody sent. The type of a row is the promise of the text. */
export interface Sql {
  /** Returns how many rows have changed. */
  run(text: string, ...parameters: readonly SqlValue[]): Promise<number>;
  get<Row>(text: string, ...parameters: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row>(text: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]>;
}

/**
 * A database that several processes use. Where it fails as a whole (it is locked, full, damaged, gone) this is an error that a
 * user can do something about, and that callers may wait out: `JOURNAL_IO`, `JOURNAL_FULL`, `JOURNAL_DAMAGED`.
 */
export interface SqlDatabase extends Sql {
  /**
   * All of it or nothing, and as if no other process wrote in between. `act` uses only the statements that it is given, and is
   * called again where another transaction was in the way.
   */
  transaction<T>(act: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
