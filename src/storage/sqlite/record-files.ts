import type { DatabaseSync } from "node:sqlite";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { CONVERSATION_TABLES, SERVICE_TABLES } from "../record-tables.ts";
import { newerFile, readVersion } from "./migrations.ts";
import { type DatabaseOptions, SqliteDatabase } from "./sqlite-database.ts";
import { Statements } from "./statement.ts";

const DIALECT = {
  types: { TEXT: "TEXT", BIGINT: "INTEGER", SERIAL: "INTEGER PRIMARY KEY AUTOINCREMENT" },
  byKey: " WITHOUT ROWID",
};

const SELECT_THERE = `SELECT name FROM sqlite_schema WHERE type = 'index'
  UNION ALL SELECT tables.name || '.' || columns.name
    FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`;

/**
 * What a version without tenants has kept: nobody knows whose it was, so that it counts as the application's own and no tenant reads it.
 */
const IS_OLD = "SELECT count(*) > 0 AND sum(name = 'tenant') = 0 AS isOld FROM pragma_table_info('exchanges')";
const MOVE = `
  ALTER TABLE exchanges RENAME TO exchanges_before_tenants;
  DROP INDEX exchanges_by_session;
  ${CONVERSATION_TABLES.map((table) => table.create(DIALECT)).join(";\n")};
  INSERT INTO exchanges SELECT no, '', agent, session, key, at, user_said, agent_said FROM exchanges_before_tenants;
  DROP TABLE exchanges_before_tenants;
`;

/**
 * Opens the records of the service in a file of their own, `service.db`, so that none waits for the journal's owner.
 * Throws `JOURNAL_IO`, `JOURNAL_FULL`, `JOURNAL_DAMAGED` or `JOURNAL_NEWER` with the path.
 */
export function openServiceFile(options: DatabaseOptions): SqliteDatabase {
  return SqliteDatabase.open(options, (database) =>
    completeTables(database, () => missingIn(database, SERVICE_TABLES, options)),
  );
}

/** Opens conversations in a file of their own, so that neither they nor the journal wait for the other. */
export function openConversationFile(options: DatabaseOptions): SqliteDatabase {
  return SqliteDatabase.open(options, (database) =>
    completeTables(database, () =>
      database.prepare(IS_OLD).get()?.["isOld"] === 1 ? [MOVE] : missingIn(database, CONVERSATION_TABLES, options),
    ),
  );
}

/** Adds what the tables of an empty or older file lack. */
function completeTables(database: DatabaseSync, findMissing: () => readonly string[]): void {
  if (findMissing().length === 0) return;
  new Statements(database).inTransaction(() => {
    // Of two processes that open a file at once one was faster.
    for (const sql of findMissing()) database.exec(sql);
  });
}

/** Each step that has added something is a version. Throws `JOURNAL_NEWER`. */
function missingIn(
  database: DatabaseSync,
  tables: typeof SERVICE_TABLES,
  { path }: Pick<DatabaseOptions, "path">,
): readonly string[] {
  const version = readVersion(database);
  const known = 1 + new Set(tables.flatMap((table) => table.addingSteps())).size;
  if (version > known) throw newerFile(path, version, known);
  const names = database.prepare(SELECT_THERE).all();
  const there = new Set(names.map(({ name }) => String(name)));
  const [unknown] = tables.flatMap((table) => table.findUnknown(there) ?? []);
  if (unknown !== undefined) {
    const message = `${path} was written by a newer Pawl: this one does not know its column ${unknown}.`;
    throw new PawlError("JOURNAL_NEWER", { message });
  }
  const missing = tables.flatMap((table) => table.complete(DIALECT, there) ?? []);
  return version === known ? missing : [...missing, `PRAGMA user_version = ${known}`];
}
