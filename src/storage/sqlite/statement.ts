import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

type Input = readonly SQLInputValue[];

/** A query whose rows are objects. The type of a row is the promise of the SQL text. */
export interface Query<Row> {
  get(...parameters: Input): Row | undefined;
  all(...parameters: Input): readonly Row[];
}

/** A query whose rows are arrays: four times as fast to read as objects. */
export interface TupleQuery<Row extends readonly unknown[]> {
  all(...parameters: Input): readonly Row[];
}

/** The statements of a database by their text: each is prepared when it is first used, and once. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  prepare(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }

  /** All of it or nothing; no other process writes in between. */
  inTransaction<T>(act: () => T): T {
    this.begin();
    try {
      const result = act();
      this.commit();
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  begin(): void {
    this.prepare("BEGIN IMMEDIATE").run();
  }

  commit(): void {
    this.prepare("COMMIT").run();
  }

  /** SQLite has rolled back by itself when the disk is full or fails. The first error is the one that counts. */
  rollBack(): void {
    try {
      this.prepare("ROLLBACK").run();
    } catch {
      // There was no transaction left to roll back.
    }
  }

  query<Row>(text: string): Query<Row> {
    return this.prepare(text) as unknown as Query<Row>;
  }
}

export function prepareTupleQuery<Row extends readonly unknown[]>(
  database: DatabaseSync,
  text: string,
): TupleQuery<Row> {
  const statement: StatementSync = database.prepare(text);
  // Node has it from 22.16 on.
  const canReturnArrays = typeof statement.setReturnArrays === "function";
  if (!canReturnArrays)
    return { all: (...parameters) => statement.all(...parameters).map((row) => Object.values(row) as unknown as Row) };
  statement.setReturnArrays(true);
  return statement as unknown as TupleQuery<Row>;
}
