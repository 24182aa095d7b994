import type { Sql } from "../sql/sql-database.ts";

/** A change of tables that is made once and recorded by its name, so that parts that grow apart do not share a number. */
export interface Step {
  readonly name: string;
  readonly sql: string;
}

/** Any number that no other lock of ours has. */
const LOCK = 7_298_341_001;

/**
 * Brings the tables up to date. Processes that start together do it one after the other: it is one statement, whose parts each see
 * what was committed before they began. A transaction would go on seeing the tables as they were before it waited.
 */
export async function takeSteps(sql: Sql, steps: readonly Step[]): Promise<void> {
  const each = steps.map(
    (step) => `IF NOT EXISTS (SELECT 1 FROM steps WHERE name = '${step.name}') THEN
      ${step.sql.replace(/;\s*$/, "")};
      INSERT INTO steps (name) VALUES ('${step.name}');
    END IF;`,
  );
  await sql.run(`DO $steps$ BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK});
    CREATE TABLE IF NOT EXISTS steps (name TEXT PRIMARY KEY);
    ${each.join("\n")}
  END $steps$`);
}
