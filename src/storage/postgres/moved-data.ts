import pg from "pg";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { MOVED_TABLES, type MovedData, type MovedPart, type MovedTable, quote } from "../sql/moved-tables.ts";
import type { Sql, SqlDatabase } from "../sql/sql-database.ts";
import { JOURNAL_STEPS } from "./journal/journal-steps.ts";
import { toParts } from "./journal/postgres-log.ts";
import { toPostgresJson } from "./postgres-text.ts";
import { RECORD_STEPS } from "./record-tables.ts";
import { takeSteps } from "./take-steps.ts";

const COUNT_WORKERS = "SELECT count(*) AS count FROM workers WHERE until >= clock_timestamp()";
const OTHER_SESSIONS = `SELECT count(*) AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'pawl' AND pid <> pg_backend_pid()`;
const OPEN_REQUESTS = "SELECT count(*) AS count FROM inbox WHERE done = 0";
const OWN_TX = "SELECT pg_current_xact_id()::text::bigint AS count";
const COMMITS_AFTER = "SELECT tx, entries FROM commits WHERE tx > ? AND entries <> '[]' ORDER BY tx LIMIT 64";
const INSERT_COMMIT = "INSERT INTO commits (tx, at, entries) VALUES (?, ?, ?)";

const LOCKED = [...MOVED_TABLES.map(({ name }) => name), "commits", "workers"];

/** Columns that only this database has, and that are never null. */
const OWN_COLUMNS: Readonly<Record<string, readonly [names: string, values: string]>> = { runs: [", epoch", ", 1"] };

/** Columns that count by themselves. */
const COUNTERS = [
  "outbox.id",
  "violations.no",
  "deliveries.no",
  "delivery_tries.no",
  "schedule_slots.seq",
  "exchanges.no",
];

/** Beside the data: what may be told to a person. */
export interface SharedData extends MovedData {
  /** Sessions of other processes, which may be a pooler's too. */
  readonly otherSessions: number;
  /** Requests between processes that nobody has answered. */
  readonly openRequests: number;
}

/**
 * All data of a database in one transaction, and as it is at one moment. `isTarget`: nobody else writes or reads there meanwhile.
 * Throws `DATA_LOCKED` while processes drive runs.
 */
export async function withPostgresData<T>(
  database: SqlDatabase,
  { isTarget }: { readonly isTarget: boolean },
  work: (data: SharedData) => Promise<T>,
): Promise<T> {
  await takeSteps(database, [...JOURNAL_STEPS, ...RECORD_STEPS]);
  return database.together(async (sql) => {
    // Before anything is read: what is seen is as it was at the first look.
    if (isTarget) await sql.run(`LOCK TABLE ${LOCKED.join(", ")} IN EXCLUSIVE MODE`);
    const workers = await countBy(sql, COUNT_WORKERS);
    if (workers > 0) throw driven(workers);
    const [otherSessions, openRequests] = [await countBy(sql, OTHER_SESSIONS), await countBy(sql, OPEN_REQUESTS)];
    return work({ ...dataIn(sql), otherSessions, openRequests });
  });
}

function dataIn(sql: Sql): MovedData {
  return {
    sql: () => sql,
    async insert(table, rows) {
      const [more, values] = OWN_COLUMNS[table.name] ?? ["", ""];
      const names = table.columns.map(({ name }) => quote(name)).join(", ");
      const text = `INSERT INTO ${quote(table.name)} (${names}${more})
        SELECT ${names}${values} FROM json_populate_recordset(NULL::${quote(table.name)}, ?::json)`;
      try {
        await sql.run(text, toRecords(table, rows));
      } catch (error) {
        throw toRefusal(error, table);
      }
    },
    readOrder: () => readOrder(sql),
    insertOrder: orderWriter(sql),
    async finish() {
      const numbered = "SELECT max(no) AS no FROM runs UNION ALL SELECT max(no) FROM deleted_runs";
      await sql.all(`SELECT setval('run_numbers', max(no)) FROM (${numbered}) AS known HAVING max(no) IS NOT NULL`);
      for (const counter of COUNTERS) {
        const [name = "", column = ""] = counter.split(".");
        const sequence = `pg_get_serial_sequence('${name}', '${column}')`;
        await sql.all(`SELECT setval(${sequence}, max(${column})) FROM ${name} HAVING max(${column}) IS NOT NULL`);
      }
    },
  };
}

function toRecords({ columns }: MovedTable, rows: Parameters<MovedData["insert"]>[1]): string {
  return toPostgresJson(rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]]))));
}

/** What no database of ours has said: two rows of one key, or a value that does not fit its column. */
function toRefusal(error: unknown, { name }: MovedTable): unknown {
  const isOfRow = error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? "");
  if (!isOfRow) return error;
  const message = `A row of \`${name}\` cannot be stored: ${error.message}.`;
  return new PawlError("EXPORT_INVALID", { message, cause: error });
}

async function* readOrder(sql: Sql): AsyncGenerator<MovedPart> {
  for (let after = -1; ; ) {
    const commits = await sql.all<{ readonly tx: number; readonly entries: string }>(COMMITS_AFTER, after);
    for (const commit of commits) yield* toParts(commit);
    const last = commits.at(-1);
    if (last === undefined) return;
    after = last.tx;
  }
}

/**
 * The number of a commit is that of its transaction. All of these are of one transaction, and take numbers of earlier ones of this
 * server, which have written nothing here: so they come before all that is committed from now on.
 */
function orderWriter(sql: Sql): MovedData["insertOrder"] {
  let next = 1;
  let atOnce: number | undefined;
  let waiting: MovedPart[] = [];
  return async (parts, left) => {
    waiting.push(...parts);
    // A server that has had few transactions has few numbers: then a commit stands for more parts.
    atOnce ??= Math.ceil((waiting.length + left) / Math.max(1, (await countBy(sql, OWN_TX)) - 1));
    if (left > 0 && waiting.length < atOnce) return;
    const entries = writeExact(waiting.flatMap(({ run, afterSeq, count }) => [run, afterSeq, count]));
    waiting = [];
    await sql.run(INSERT_COMMIT, next, Date.now(), entries);
    next += 1;
  };
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
