/** A database as a whole, for who looks after it. */
export interface DatabaseCare {
  /** Makes nothing. Throws `JOURNAL_IO`. */
  look(): Promise<DatabaseState>;
  /** Takes the steps that are missing, beside processes at work. `taken`: those that were missing before. Throws `JOURNAL_IO`. */
  migrate(): Promise<{ readonly taken: readonly string[]; readonly state: DatabaseState }>;
}

export interface DatabaseState {
  /** With its port. */
  readonly host: string;
  readonly name: string;
  /** That of the server. */
  readonly version: string;
  /** Changes of the tables that were made. */
  readonly taken: readonly string[];
  readonly missing: readonly string[];
  /** Made by a newer version of this program. */
  readonly unknown: readonly string[];
  /** How many processes drive runs now. */
  readonly drivers: number;
  /** What was written after it began is not told in the order of all runs before it ends. */
  readonly oldest: OpenTransaction | undefined;
}

/** A transaction that has written and has not ended. */
export interface OpenTransaction {
  readonly pid: number;
  /** As the program calls itself. */
  readonly program: string;
  /** As `pg_stat_activity` has it. Null: this user may not see what others do. */
  readonly state: string | null;
  readonly ageMs: number | null;
}
