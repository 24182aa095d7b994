import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { writeExact } from "../../core/exact-json.ts";
import { type Commit, readCommit } from "../commit-log.ts";
import { type CopiedData, type CopiedRow, quote } from "../copy-rows.ts";
import * as sql from "../sql/journal-statements.ts";
import { rangeOf, SEQ_RANGE } from "../sql/run-row.ts";
import { openDatabase } from "./open-database.ts";
import { openConversationFile, openServiceFile } from "./record-files.ts";
import { toReadFailure } from "./storage-failure.ts";

const ROWS_AT_ONCE = 250;

/** As `main` and the two attached files have them: no two tables of theirs share a name but `steps`. */
const COLUMNS = ["main", "service", "conversations"]
  .map(
    (file) => `SELECT tables.name || '.' || columns.name AS name
      FROM ${file}.sqlite_schema AS tables, pragma_table_info(tables.name, '${file}') AS columns WHERE tables.type = 'table'`,
  )
  .join(" UNION ");

/**
 * The data of a folder, for the process that owns it, in one transaction. Missing files are made. Throws `JOURNAL_IO`,
 * `JOURNAL_FULL`, `JOURNAL_DAMAGED`, `JOURNAL_NEWER`.
 */
export async function withSqliteData<T>(folder: string, work: (data: CopiedData) => Promise<T>): Promise<T> {
  const fileOf = (name: string) => ({ path: join(folder, name), durability: "process" as const });
  openDatabase(fileOf("pawl.db")).close();
  await openServiceFile(fileOf("service.db")).close();
  await openConversationFile(fileOf("conversations.db")).close();
  const { path } = fileOf("pawl.db");
  const database = new DatabaseSync(path);
  try {
    database.prepare("ATTACH ? AS service").run(fileOf("service.db").path);
    database.prepare("ATTACH ? AS conversations").run(fileOf("conversations.db").path);
    database.exec("BEGIN");
    const result = await work(dataIn(database));
    database.exec("COMMIT");
    return result;
  } catch (error) {
    throw toReadFailure(error, path);
  } finally {
    database.close();
  }
}

function dataIn(database: DatabaseSync): CopiedData {
  const inserts = new Map<string, StatementSync>();
  return {
    columns: async () =>
      database
        .prepare(COLUMNS)
        .all()
        .map(({ name }) => String(name)),
    async *read(table, columns) {
      const text = `SELECT ${columns.map(quote).join(", ")} FROM ${quote(table)}`;
      yield* inBatches(database.prepare(text).iterate() as Iterable<CopiedRow>);
    },
    async insert(table, columns, rows) {
      const names = columns.map(quote).join(", ");
      const text = `INSERT INTO ${quote(table)} (${names}) VALUES (${columns.map((name) => `:${name}`).join(", ")})`;
      const statement = inserts.get(text) ?? database.prepare(text);
      inserts.set(text, statement);
      for (const row of rows) statement.run({ ...row });
    },
    countCommits: async () => Number(database.prepare("SELECT count(*) AS count FROM commits").get()?.["count"]),
    readCommits: () => readCommits(database),
    async insertCommits(commits) {
      const statement = database.prepare(sql.INSERT_COMMIT);
      for await (const parts of commits) statement.run(Date.now(), writeExact([0, ...parts]));
    },
  };
}

function* inBatches(rows: Iterable<CopiedRow>): Generator<readonly CopiedRow[]> {
  let batch: CopiedRow[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < ROWS_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** A commit says how many events have continued the last part before it. For the newest one its run says that. */
async function* readCommits(database: DatabaseSync): AsyncGenerator<readonly number[]> {
  const commits = database.prepare("SELECT no, at, entries FROM commits ORDER BY no");
  let open = readCommit({ no: 0, at: 0, entries: "[0]" }).parts;
  const close = (wentOn: number) =>
    open.flatMap(({ run, afterSeq, count }, n) => [run, afterSeq, n === open.length - 1 ? count + wentOn : count]);
  for (const commit of commits.iterate() as Iterable<unknown> as Iterable<Commit>) {
    const { wentOn, parts } = readCommit(commit);
    if (open.length > 0) yield close(wentOn);
    open = parts;
  }
  const last = open.at(-1);
  if (last === undefined) return;
  const id = Number(database.prepare(sql.SELECT_LAST_EVENT).get(...rangeOf(last.run))?.["id"] ?? 0);
  yield close(Math.max(0, id - last.run * SEQ_RANGE - last.afterSeq - last.count));
}
