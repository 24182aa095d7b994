import type { SqlDatabase } from "../sql/sql-database.ts";

/** Leads from the tables of the step before to the next ones. A released step is never edited; append one. */
export interface Step {
  readonly name: string;
  /** Statements, separated by semicolons at the ends of lines. None has parameters. */
  readonly sql: string;
}

/** Any number that nothing else in the database takes. */
const LOCK = 7_239_155_018;

const TABLE = "CREATE TABLE IF NOT EXISTS pawl_steps (name TEXT PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT now())";

/** Takes the steps that the database has not taken, in order. Of processes that start at once one does it, and the others wait. */
export async function migrate(database: SqlDatabase, steps: readonly Step[]): Promise<readonly string[]> {
  if ((await missingSteps(database, steps)).length === 0) return [];
  return database.together(async (sql) => {
    await sql.all("SELECT pg_advisory_xact_lock(?::bigint)", LOCK);
    await sql.run(TABLE);
    // Read under the lock: another process may have been faster.
    const taken = await sql.all<{ readonly name: string }>("SELECT name FROM pawl_steps");
    const missing = steps.filter(({ name }) => !taken.some((each) => each.name === name));
    for (const { name, sql: text } of missing) {
      for (const statement of text.split(/;\n/)) if (statement.trim() !== "") await sql.run(statement);
      await sql.run("INSERT INTO pawl_steps (name) VALUES (?)", name);
    }
    return missing.map(({ name }) => name);
  });
}

/** Steps that are still to be taken. */
export async function missingSteps(database: SqlDatabase, steps: readonly Step[]): Promise<readonly string[]> {
  const isThere = await database.get<{ readonly there: boolean }>(
    "SELECT to_regclass('pawl_steps') IS NOT NULL AS there",
  );
  const taken =
    isThere?.there === true ? await database.all<{ readonly name: string }>("SELECT name FROM pawl_steps") : [];
  return steps.map(({ name }) => name).filter((name) => !taken.some((each) => each.name === name));
}
