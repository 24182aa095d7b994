import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { exportData } from "../../../src/storage/export-data.ts";
import { importData } from "../../../src/storage/import-data.ts";
import { makeFolder } from "../../../src/storage/make-folder.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { withPostgresData } from "../../../src/storage/postgres/moved-data.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { MOVED_TABLES, type MovedData, type MovedRow } from "../../../src/storage/sql/moved-tables.ts";
import { SEQ_RANGE } from "../../../src/storage/sql/run-row.ts";
import { withSqliteData } from "../../../src/storage/sqlite/moved-data.ts";
import { openSqliteJournal } from "../../../src/storage/sqlite/sqlite-journal.ts";
import { MemoryBlobs } from "../../support/memory/memory-blobs.ts";
import { MemoryFileStorage } from "../../support/memory/memory-file-storage.ts";
import { openTestJournal } from "../../support/open-test-journal.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { createRun, newRun, readPaths, readWholeLog, reserveRuns, started, succeeded } from "../journal-samples.ts";
import { temporaryFolder } from "../temporary-folder.ts";

type Use = <T>(isTarget: boolean, work: (data: MovedData) => Promise<T>) => Promise<T>;

function inFolder(folder: string): Use {
  makeFolder(folder);
  return (_, work) => withSqliteData(folder, work);
}

function onServer(url: string): Use {
  const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 1 });
  onTestFinished(() => database.close());
  return (isTarget, work) => withPostgresData(database, { isTarget }, work);
}

const stores = () => ({ blobs: new MemoryBlobs(), files: new MemoryFileStorage(), opens: () => true });

/** The lines of an export behind the first one, which says where it comes from. */
async function linesOf(use: Use, path: string): Promise<readonly string[]> {
  await exportData(path, { kind: "sqlite", read: (work) => use(false, work), ...stores() });
  return gunzipSync(readFileSync(path)).toString().split("\n").slice(1);
}

const importInto = (use: Use, path: string) =>
  importData(path, { place: "here", write: (work) => use(true, work), ...stores() });

const TEXTS = ["", "plain", "ü€😀", "a\0b", "\u{10FFFE}0", "\u{10FFFF}", '"quoted"\\n', "line\nline", "null", "~x"];

/** A row for each text, each of whose columns has another one. */
function rowsOf({ name, columns, key }: (typeof MOVED_TABLES)[number]): readonly MovedRow[] {
  return TEXTS.map((_, n) =>
    columns.map((column, index) => {
      if (column.isNumber) return key.includes(column.name) ? n + 1 : n * 9_007_199_254;
      // Keys are ordered by their bytes, and no key of ours has what one database writes in another way.
      if (key.includes(column.name) || column.name === "id") return `${n} ${name} ü😀`;
      return TEXTS[(n + index) % TEXTS.length] ?? "";
    }),
  );
}

test("each table and each column of both databases is moved, or named as what is left out", async () => {
  const folder = temporaryFolder();
  await withSqliteData(folder, async () => undefined);
  const known = new Set(MOVED_TABLES.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)));
  const inFiles = ["pawl.db", "service.db", "conversations.db"].flatMap((file) => {
    const database = new DatabaseSync(join(folder, file), { readOnly: true });
    const text = `SELECT tables.name || '.' || columns.name AS name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
      WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'`;
    const names = database
      .prepare(text)
      .all()
      .map(({ name }) => String(name));
    database.close();
    return names;
  });
  const left = (names: readonly string[]) => names.filter((name) => !known.has(name)).sort();
  expect(left(inFiles)).toEqual(["commits.at", "commits.entries", "commits.no", "steps.name"]);
  const columns = await onServer(await newTestDatabase())(false, (data) =>
    data
      .sql("journal")
      .all<{ readonly name: string }>(
        "SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'",
      ),
  );
  const names = columns.map(({ name }) => name);
  expect(left(names).filter((name) => !/^(commits|inbox|workers)\./.test(name))).toEqual([
    "runs.epoch",
    "runs.lost_at",
    "runs.owner",
    "steps.name",
  ]);
  for (const name of known) expect(inFiles.includes(name) && names.includes(name) ? "" : name).toBe("");
});

test("what a row of any table holds is the same after it was moved there and back", async () => {
  const folder = temporaryFolder();
  const [first, last] = [inFolder(join(folder, "first")), inFolder(join(folder, "last"))];
  const server = onServer(await newTestDatabase());
  await first(true, async (data) => {
    for (const table of MOVED_TABLES) {
      const rows = rowsOf(table);
      const isEvents = table.name === "events";
      await data.insert(table, isEvents ? rows.map((row, n) => [SEQ_RANGE * (n + 1) + 1, ...row.slice(1)]) : rows);
    }
    await data.insertOrder(
      [
        { run: 3, afterSeq: 0, count: 1 },
        { run: 1, afterSeq: 0, count: 1 },
      ],
      0,
    );
  });
  const lines = await linesOf(first, join(folder, "1.pawl"));
  expect(await importInto(server, join(folder, "1.pawl"))).toMatchObject({ runs: TEXTS.length, events: TEXTS.length });
  expect(await linesOf(server, join(folder, "2.pawl"))).toEqual(lines);
  await importInto(last, join(folder, "2.pawl"));
  expect(await linesOf(last, join(folder, "3.pawl"))).toEqual(lines);
});

test("1,000 runs of 4 steps are moved in seconds with the order of all runs, which goes on behind it", async () => {
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
  const path = join(folder, "all.pawl");
  const lines = await linesOf(inFolder(join(folder, "data")), path);
  await importInto(onServer(url), path);
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(await linesOf(onServer(url), join(folder, "again.pawl"))).toEqual(lines);

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
  await linesOf(onServer(url), join(folder, "back.pawl"));
  await importInto(inFolder(join(folder, "back")), join(folder, "back.pawl"));
  const back = openSqliteJournal({ path: join(folder, "back", "pawl.db"), durability: "process" });
  onTestFinished(() => back.close());
  expect(await readWholeLog(back, { limit: 1_000 })).toEqual([...log, "next1", "next2", "alone5"]);
  await createRun(back, "last");
  expect((await readWholeLog(back, { limit: 1_000 })).at(-1)).toBe("last1");
});
