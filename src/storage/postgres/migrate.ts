import { setTimeout } from "node:timers/promises";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Sql } from "../sql/sql-database.ts";
import { isLockTimeout } from "./postgres-failure.ts";

/** A change of tables that is made once and recorded by its name, so that parts that grow apart do not share a number. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Any number that no other lock of ours has. */
const LOCK = 7_298_341_001;

/** A change that waits for a table lets nobody else use it meanwhile: it gives up soon, and asks again. */
const LOCK_TIMEOUT_MS = 2_000;
const PAUSE_MS = 500;
const MAX_TRIES = 3;

/**
 * Brings the tables up to date. Processes that start together do it one after the other: it is one statement, whose parts each see
 * what was committed before they began. A transaction would go on seeing the tables as they were before it waited. Throws `JOURNAL_IO`
 * where another transaction keeps a table for seconds.
 */
export async function migrate(sql: Sql, steps: readonly Migration[]): Promise<void> {
  const each = steps.map(
    (step) => `IF NOT EXISTS (SELECT 1 FROM steps WHERE name = '${step.name}') THEN
      ${step.sql.replace(/;\s*$/, "")};
      INSERT INTO steps (name) VALUES ('${step.name}');
    END IF;`,
  );
  const text = `DO $steps$ BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK});
    PERFORM set_config('lock_timeout', '${LOCK_TIMEOUT_MS}ms', true);
    CREATE TABLE IF NOT EXISTS steps (name TEXT PRIMARY KEY);
    ${each.join("\n")}
  END $steps$`;
  for (let tries = 1; ; tries += 1) {
    try {
      await sql.run(text);
      return;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (tries === MAX_TRIES) throw heldUp(error);
    }
    await setTimeout(PAUSE_MS);
  }
}

function heldUp(cause: unknown): PawlError {
  return new PawlError("JOURNAL_IO", {
    message:
      "The tables of the database cannot be changed: another transaction has one of them in use and does not end. Nothing was changed.",
    remedy:
      "Find it with `SELECT pid, query FROM pg_stat_activity WHERE xact_start < now() - interval '10 s'`, end it with `SELECT pg_terminate_backend(PID)`, and run `pawl db migrate`.",
    cause,
  });
}
