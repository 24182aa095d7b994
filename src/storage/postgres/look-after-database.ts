import { PawlError } from "../../core/errors/pawl-error.ts";
import type { DatabaseCare, DatabaseState } from "../../ports/database-care.ts";
import type { Sql, SqlDatabase } from "../sql/sql-database.ts";
import type { DatabaseAddress } from "./database-address.ts";
import { JOURNAL_MIGRATIONS } from "./journal/journal-migrations.ts";
import { type Migration, migrate } from "./migrate.ts";
import { POOL_MIGRATIONS } from "./pool-shares.ts";
import { RECORD_MIGRATIONS } from "./record-migrations.ts";

const SELECT_SERVER = `SELECT current_database() AS name, current_setting('server_version') AS version,
  to_regclass('steps') IS NOT NULL AS "hasSteps", to_regclass('workers') IS NOT NULL AS "hasWorkers"`;

/** The start of a transaction is hidden from users who may not see what others do. Its number is not. */
const SELECT_OLDEST = `SELECT pid, application_name AS program, state,
    floor(extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint AS "ageMs"
  FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()
  ORDER BY age(backend_xid) DESC LIMIT 1`;

const SELECT_ALIVE = "SELECT count(*) AS count FROM workers WHERE until >= clock_timestamp()";

interface ServerRow {
  readonly name: string;
  readonly version: string;
  readonly hasSteps: boolean;
  readonly hasWorkers: boolean;
}

const STEPS: readonly Migration[] = [...JOURNAL_MIGRATIONS, ...POOL_MIGRATIONS, ...RECORD_MIGRATIONS];

/** Throws `JOURNAL_NEWER` where the tables are of a later version of Pawl than this one. Asked by all that open them. */
export async function refuseNewer(sql: Sql, steps = STEPS): Promise<void> {
  const found = await sql.get<{ readonly has: boolean }>("SELECT to_regclass('steps') IS NOT NULL AS has");
  const names = found?.has === true ? await sql.all<{ readonly name: string }>("SELECT name FROM steps") : [];
  const unknown = names.map(({ name }) => name).filter((name) => steps.every((step) => step.name !== name));
  if (unknown.length === 0) return;
  throw new PawlError("JOURNAL_NEWER", {
    message: `The tables of the database were changed by a newer Pawl: ${unknown.sort().join(", ")} ${unknown.length === 1 ? "is" : "are"} not known to this one.`,
    remedy: "Start the version that made the changes, or a later one. `pawl db status` shows both sides.",
  });
}

/** What looks after a database beside the processes that work on it. Looking makes nothing. */
export function lookAfterDatabase(database: SqlDatabase, { host }: DatabaseAddress, steps = STEPS): DatabaseCare {
  const look = async (): Promise<DatabaseState> => {
    const server = await database.get<ServerRow>(SELECT_SERVER);
    const taken = server?.hasSteps === true ? await database.all<{ name: string }>("SELECT name FROM steps") : [];
    const names = new Set(taken.map(({ name }) => name));
    const known = new Set(steps.map(({ name }) => name));
    const alive = server?.hasWorkers === true ? await database.get<{ count: number }>(SELECT_ALIVE) : undefined;
    return {
      host,
      name: server?.name ?? "",
      version: server?.version ?? "",
      taken: steps.map(({ name }) => name).filter((name) => names.has(name)),
      missing: steps.map(({ name }) => name).filter((name) => !names.has(name)),
      unknown: [...names].filter((name) => !known.has(name)).sort(),
      drivers: alive?.count ?? 0,
      oldest: await database.get(SELECT_OLDEST),
    };
  };
  return {
    look,
    async migrate() {
      await refuseNewer(database, steps);
      const { missing } = await look();
      await migrate(database, steps);
      return { taken: missing, state: await look() };
    },
  };
}
