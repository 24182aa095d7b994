import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import {
  type CopiedCounts,
  type CopiedData,
  type CopiedRow,
  copyRows,
  findTables,
} from "../../../src/storage/copy-rows.ts";
import { makeFolder } from "../../../src/storage/make-folder.ts";
import { withPostgresData } from "../../../src/storage/postgres/copied-data.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { SEQ_RANGE } from "../../../src/storage/sql/run-row.ts";
import { withSqliteData } from "../../../src/storage/sqlite/copied-data.ts";
import { openSqliteJournal } from "../../../src/storage/sqlite/sqlite-journal.ts";
import { openTestJournal } from "../../support/open-test-journal.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { createRun, newRun, readPaths, readWholeLog, reserveRuns, started, succeeded } from "../journal-samples.ts";
import { temporaryFolder } from "../temporary-folder.ts";

type Use = <T>(isTarget: boolean, work: (data: CopiedData) => Promise<T>) => Promise<T>;

function inFolder(folder: string): Use {
  makeFolder(folder);
  return (_, work) => withSqliteData(folder, work);
}

function onServer(url: string): Use {
  const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 1 });
  onTestFinished(() => database.close());
  return (isTarget, work) => withPostgresData(database, { isTarget }, work);
}

function copy(from: Use, to: Use): Promise<CopiedCounts> {
  return to(true, (target) => from(false, (source) => copyRows(source, { ...target, place: "here" }, () => undefined)));
}

/** Everything of a place, each table in the order of its texts. */
function rowsOf(use: Use): Promise<Readonly<Record<string, readonly string[]>>> {
  return use(false, async (data) => {
    const all: Record<string, readonly string[]> = {};
    for (const [table, columns] of [...(await findTables(data))].sort()) {
      const rows: string[] = [];
      for await (const some of data.read(table, [...columns].sort()))
        rows.push(...some.map((row) => JSON.stringify(row)));
      all[table] = rows.sort();
    }
    const order: number[] = [];
    for await (const parts of data.readCommits()) order.push(...parts);
    return { ...all, order: [order.join()] };
  });
}

const TEXTS = ["", "plain", "ü€😀", "a\0b", "\u{10FFFE}0", "\u{10FFFF}", '"quoted"\\n', "line\nline", "null", "~x"];

/** A row for each text, each of whose columns has another one. `numbers`: the columns of whole numbers. */
function sampleRows(table: string, columns: readonly string[], numbers: ReadonlySet<string>): readonly CopiedRow[] {
  return TEXTS.map((_, n) => {
    const sampleOf = (column: string, index: number) => {
      if (table === "events" && column === "id") return SEQ_RANGE * (n + 1) + 1;
      if (!numbers.has(`${table}.${column}`))
        return `${TEXTS[(n + index) % TEXTS.length]}${/text|body|note/.test(column) ? "" : ` ${n}`}`;
      return ["no", "id", "seq"].includes(column) ? n + 1 : n * 9_007_199_254;
    };
    return Object.fromEntries(columns.map((column, index) => [column, sampleOf(column, index)]));
  });
}

test("both databases have the same tables and columns of data", async () => {
  const tablesOf = (use: Use) =>
    use(false, async (data) =>
      [...(await findTables(data))].map(([name, columns]) => [name, columns.toSorted()]).sort(),
    );
  const inFiles = await tablesOf(inFolder(join(temporaryFolder(), "data")));
  expect(inFiles).toHaveLength(26);
  expect(await tablesOf(onServer(await newTestDatabase()))).toEqual(inFiles);
});

test("what a row of any table holds is the same after it was copied there and back", async () => {
  const folder = temporaryFolder();
  const [first, last] = [inFolder(join(folder, "first")), inFolder(join(folder, "last"))];
  const server = onServer(await newTestDatabase());
  await first(true, async (data) => {
    const numbers = await numbersOf(join(folder, "first"));
    for (const [table, columns] of await findTables(data))
      await data.insert(table, columns, sampleRows(table, columns, numbers));
    await data.insertCommits(commits([3, 0, 1], [1, 0, 1]), 2);
  });
  const before = await rowsOf(first);
  expect(await copy(first, server)).toMatchObject({ runs: TEXTS.length, events: TEXTS.length });
  expect(await rowsOf(server)).toEqual(before);
  await copy(server, last);
  expect(await rowsOf(last)).toEqual(before);
  await expect(copy(first, last)).rejects.toMatchObject({ code: "DATA_EXISTS" });
  await expect(copy(first, server)).rejects.toMatchObject({ code: "DATA_EXISTS" });
});

/** The columns of whole numbers of the files of a folder. */
async function numbersOf(folder: string): Promise<ReadonlySet<string>> {
  return new Set(
    ["pawl.db", "service.db", "conversations.db"].flatMap((file) => {
      const database = new DatabaseSync(join(folder, file), { readOnly: true });
      const text = `SELECT tables.name || '.' || columns.name AS name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
        WHERE columns.type = 'INTEGER'`;
      const names = database.prepare(text).all();
      database.close();
      return names.map(({ name }) => String(name));
    }),
  );
}

async function* commits(...each: readonly (readonly number[])[]): AsyncGenerator<readonly number[]> {
  yield* each;
}

test("1,000 runs of 4 steps are copied in seconds with the order of all runs, which goes on behind it", async () => {
  const folder = temporaryFolder();
  makeFolder(join(folder, "data"));
  const journal = openSqliteJournal({ path: join(folder, "data", "pawl.db"), durability: "process" });
  const runs = await reserveRuns(journal, 1_000);
  for (let first = 0; first < runs.length; first += 100) {
    const some = runs.slice(first, first + 100);
    await journal.append(
      some.map((run) => ({ run, afterSeq: 0, create: newRun(`run-${run}`), events: [{ event: started("s0") }] })),
    );
    for (let step = 1; step <= 4; step += 1)
      await journal.append(
        some.map((run) => ({
          run,
          afterSeq: 2 * step - 1,
          events: [{ event: succeeded(`s${step}`), value: '{"a":1}' }, { event: started(`s${step}`) }],
        })),
      );
  }
  // A run that is alone writes no commit of its own.
  const alone = await createRun(journal, "alone");
  for (let seq = 1; seq <= 3; seq += 1)
    await journal.append([{ run: alone, afterSeq: seq, events: [{ event: started(`more${seq}`) }] }]);
  const log = await readWholeLog(journal, { limit: 1_000 });
  await journal.close();

  const url = await newTestDatabase();
  const begun = performance.now();
  await copy(inFolder(join(folder, "data")), onServer(url));
  expect(performance.now() - begun).toBeLessThan(20_000);

  const there = await openTestJournal(url);
  expect(await readWholeLog(there, { limit: 1_000 })).toEqual(log);
  const next = await createRun(there, "next", { count: 2 });
  expect(next).toBe(alone + 1);
  expect(await readWholeLog(there, { limit: 1_000 })).toEqual([...log, "next1", "next2"]);
  const claimed = await there.claim(alone);
  expect(claimed).toMatchObject({ id: "alone", lastSeq: 4 });
  await there.append([{ run: alone, afterSeq: 4, events: [{ event: started("after") }] }]);
  expect(await readPaths(there, alone)).toEqual(["step1", "more1", "more2", "more3", "after"]);

  await there.close();
  await copy(onServer(url), inFolder(join(folder, "back")));
  const back = openSqliteJournal({ path: join(folder, "back", "pawl.db"), durability: "process" });
  onTestFinished(() => back.close());
  expect(await readWholeLog(back, { limit: 1_000 })).toEqual([...log, "next1", "next2", "alone5"]);
  await createRun(back, "last");
  expect((await readWholeLog(back, { limit: 1_000 })).at(-1)).toBe("last1");
});
