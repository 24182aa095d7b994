import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

type Input = readonly SQLInputValue[];

/** A prepared query whose rows are objects. The type of a row is the promise of the SQL text beside it. */
export interface Query<Row> {
  get(...parameters: Input): Row | undefined;
  all(...parameters: Input): readonly Row[];
}

/** Whatever prepares statements: a database, or one that says more of its failures. */
interface Preparing {
  prepare(text: string): unknown;
}

export function prepareQuery<Row>(database: Preparing, text: string): Query<Row> {
  return database.prepare(text) as Query<Row>;
}

/** A prepared query whose rows are arrays: four times as fast to read as objects. */
export interface TupleQuery<Row extends readonly unknown[]> {
  all(...parameters: Input): readonly Row[];
}

export function prepareTupleQuery<Row extends readonly unknown[]>(
  database: DatabaseSync,
  text: string,
): TupleQuery<Row> {
  const statement: StatementSync = database.prepare(text);
  // Node has it from 22.16 on.
  const canReturnArrays = typeof statement.setReturnArrays === "function";
  if (!canReturnArrays) {
    return { all: (...parameters) => statement.all(...parameters).map((row) => Object.values(row) as unknown as Row) };
  }
  statement.setReturnArrays(true);
  return statement as unknown as TupleQuery<Row>;
}
