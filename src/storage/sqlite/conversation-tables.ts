import type { DatabaseSync } from "node:sqlite";
import { type DatabaseOptions, SqliteDatabase } from "./sqlite-database.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS exchanges (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    user_said TEXT NOT NULL,
    agent_said TEXT NOT NULL,
    UNIQUE (tenant, agent, session, key)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS exchanges_by_session ON exchanges (tenant, agent, session, no);
`;

/**
 * What a version without tenants has kept: nobody knows whose it was, so that it counts as the application's own and no tenant reads it.
 */
const IS_OLD = "SELECT count(*) > 0 AND sum(name = 'tenant') = 0 AS isOld FROM pragma_table_info('exchanges')";
const MOVE = `
  ALTER TABLE exchanges RENAME TO exchanges_before_tenants;
  DROP INDEX exchanges_by_session;
  ${SCHEMA}
  INSERT INTO exchanges SELECT no, '', agent, session, key, at, user_said, agent_said FROM exchanges_before_tenants;
  DROP TABLE exchanges_before_tenants;
`;

/** Opens conversations in a file of their own, so that neither they nor the journal wait for the other. */
export function openConversationFile(options: DatabaseOptions): SqliteDatabase {
  return SqliteDatabase.open(options, prepare);
}

/** Of two processes that open an older file at once one moves its rows. */
function prepare(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const isOld = database.prepare(IS_OLD).get()?.["isOld"] === 1;
    database.exec(isOld ? MOVE : SCHEMA);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
