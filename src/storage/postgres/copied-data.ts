import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { type CopiedData, type CopiedRow, findTables, quote } from "../copy-rows.ts";
import type { Sql, SqlDatabase } from "../sql/sql-database.ts";
import { JOURNAL_MIGRATIONS } from "./journal/journal-migrations.ts";
import { toParts } from "./journal/postgres-log.ts";
import { refuseNewer } from "./look-after-database.ts";
import { migrate } from "./migrate.ts";
import { toPostgresJson } from "./postgres-text.ts";
import { RECORD_MIGRATIONS } from "./record-migrations.ts";

const COLUMNS = `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
  WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`;
const COUNTERS = `SELECT table_name AS name, column_name AS field FROM information_schema.columns
  WHERE table_schema = current_schema() AND is_identity = 'YES' AND table_name <> 'inbox'`;
const COUNT_WORKERS = "SELECT count(*) AS count FROM workers WHERE until >= clock_timestamp()";
const COUNT_COMMITS = "SELECT count(*) AS count FROM commits WHERE entries <> '[]'";
const OWN_TX = "SELECT pg_current_xact_id()::text::bigint AS count";
const SET_RUN_NUMBER = `SELECT setval('run_numbers', max(no)) FROM
  (SELECT max(no) AS no FROM runs UNION ALL SELECT max(no) FROM deleted_runs) AS known HAVING max(no) IS NOT NULL`;

/**
 * All data of a database in one transaction, and as it is at one moment. `isTarget`: nobody else writes or reads there meanwhile.
 * Throws `DATA_LOCKED` while processes drive runs.
 */
export async function withPostgresData<T>(
  database: SqlDatabase,
  { isTarget }: { readonly isTarget: boolean },
  work: (data: CopiedData) => Promise<T>,
): Promise<T> {
  await refuseNewer(database);
  await migrate(database, [...JOURNAL_MIGRATIONS, ...RECORD_MIGRATIONS]);
  const tables = await findTables({ columns: () => readColumns(database) });
  return database.transaction(async (sql) => {
    // Before anything is read: what is seen is as it was at the first look, which then never comes too late.
    if (isTarget) await sql.run(`LOCK TABLE ${[...tables.keys(), "commits", "workers"].join(", ")} IN EXCLUSIVE MODE`);
    else await sql.run("SET TRANSACTION READ ONLY, DEFERRABLE");
    const workers = await countBy(sql, COUNT_WORKERS);
    if (workers > 0) throw driven(workers);
    const result = await work(dataIn(sql));
    if (isTarget) await setCounters(sql);
    return result;
  });
}

async function readColumns(sql: Sql): Promise<readonly string[]> {
  return (await sql.all<{ readonly name: string }>(COLUMNS)).map(({ name }) => name);
}

function dataIn(sql: Sql): CopiedData {
  return {
    columns: () => readColumns(sql),
    read: (table, columns) =>
      readAll<CopiedRow>(sql, table, `SELECT ${columns.map(quote).join(", ")} FROM ${quote(table)}`),
    async insert(table, columns, rows) {
      // A run has been driven by no process of this database.
      const [more, values] = table === "runs" ? [", epoch", ", 1"] : ["", ""];
      const names = columns.map(quote).join(", ");
      const text = `INSERT INTO ${quote(table)} (${names}${more})
        SELECT ${names}${values} FROM json_populate_recordset(NULL::${quote(table)}, ?::json)`;
      await sql.run(text, toPostgresJson(rows));
    },
    countCommits: () => countBy(sql, COUNT_COMMITS),
    async *readCommits() {
      const text = "SELECT entries FROM commits WHERE entries <> '[]' ORDER BY tx";
      for await (const commits of readAll<{ readonly entries: string }>(sql, "commits", text))
        for (const commit of commits)
          yield toParts(commit).flatMap(({ run, afterSeq, count }) => [run, afterSeq, count]);
    },
    /**
     * The number of a commit is that of its transaction. All of these are of one transaction, and take numbers of earlier ones of
     * this server, which have written nothing here: so they come before all that is committed from now on. A server that has
     * had few transactions has few numbers: then a commit stands for several.
     */
    async insertCommits(commits, count) {
      const atOnce = Math.ceil(count / Math.max(1, (await countBy(sql, OWN_TX)) - 1));
      let [tx, waiting]: [number, (readonly number[])[]] = [1, []];
      const insert = async () => {
        const entries = writeExact(waiting.flat());
        await sql.run("INSERT INTO commits (tx, at, entries) VALUES (?, ?, ?)", tx, Date.now(), entries);
        [tx, waiting] = [tx + 1, []];
      };
      for await (const parts of commits) if (waiting.push(parts) === atOnce) await insert();
      if (waiting.length > 0) await insert();
    },
  };
}

/** Each table is read once in a transaction. */
async function* readAll<Row>(sql: Sql, table: string, text: string): AsyncGenerator<readonly Row[]> {
  await sql.run(`DECLARE copied_${table} CURSOR FOR ${text}`);
  for (;;) {
    const rows = await sql.all<Row>(`FETCH 250 FROM copied_${table}`);
    if (rows.length === 0) return;
    yield rows;
  }
}

/** What is added from now on has other numbers than what was copied. */
async function setCounters(sql: Sql): Promise<void> {
  await sql.all(SET_RUN_NUMBER);
  for (const { name, field } of await sql.all<{ readonly name: string; readonly field: string }>(COUNTERS)) {
    const sequence = `pg_get_serial_sequence('${name}', '${field}')`;
    await sql.all(`SELECT setval(${sequence}, max(${field})) FROM ${quote(name)} HAVING max(${field}) IS NOT NULL`);
  }
}

async function countBy(sql: Sql, text: string): Promise<number> {
  return (await sql.get<{ readonly count: number }>(text))?.count ?? 0;
}

function driven(workers: number): PawlError {
  const processes = workers === 1 ? "A process drives" : `${workers} processes drive`;
  return new PawlError("DATA_LOCKED", {
    message: `${processes} runs of the database.`,
    remedy: "End them first: `pawl db status` counts them. One that was killed is counted until its lease is over.",
  });
}
