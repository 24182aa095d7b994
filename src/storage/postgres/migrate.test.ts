import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { newTestDatabase } from "../../../test/support/test-database.ts";
import { readDatabaseUrl } from "./database-address.ts";
import { migrate } from "./migrate.ts";
import { PostgresDatabase } from "./postgres-database.ts";

const FIRST = { name: "first", sql: "CREATE TABLE things (id BIGINT); INSERT INTO things VALUES (1);" };
const SECOND = { name: "second", sql: "ALTER TABLE things ADD COLUMN name TEXT" };

test("processes that start together make the tables once, and a step that comes later is taken once", async () => {
  const url = await newTestDatabase();
  const processes = Array.from({ length: 6 }, () => {
    const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 1 });
    onTestFinished(() => database.close());
    return database;
  });
  await Promise.all(processes.map((each) => migrate(each, [FIRST])));
  await Promise.all(processes.map((each, n) => migrate(each, n % 2 === 0 ? [FIRST, SECOND] : [FIRST])));
  expect(await processes[0]?.all("SELECT * FROM things")).toEqual([{ id: 1, name: null }]);
  expect(await processes[0]?.all("SELECT name FROM steps ORDER BY name")).toEqual([
    { name: "first" },
    { name: "second" },
  ]);
});

test("a step does not wait behind a long transaction, which would hold up everybody who reads the table", async () => {
  const url = await newTestDatabase();
  const [one, other] = [1, 2].map(() => {
    const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 1 });
    onTestFinished(() => database.close());
    return database;
  }) as [PostgresDatabase, PostgresDatabase];
  await migrate(one, [FIRST]);
  const long = new pg.Client({ connectionString: url });
  await long.connect();
  onTestFinished(() => long.end());
  await long.query("BEGIN; SELECT * FROM things");
  const refused = migrate(one, [FIRST, SECOND]).catch((error: unknown) => error);
  const begun = performance.now();
  let isOver = false;
  void refused.then(() => {
    isOver = true;
  });
  let longest = 0;
  for (let last = begun; !isOver; last = performance.now()) {
    await other.all("SELECT * FROM things");
    longest = Math.max(longest, performance.now() - last);
  }
  expect(longest).toBeLessThan(4_000);
  expect(await refused).toMatchObject({ code: "JOURNAL_IO", message: expect.stringContaining("Nothing was changed") });
  await long.query("ROLLBACK");
  await migrate(one, [FIRST, SECOND]);
  expect(await other.all("SELECT name FROM things")).toEqual([{ name: null }]);
});

test("a step that fails leaves nothing behind", async () => {
  const database = new PostgresDatabase({ address: readDatabaseUrl(await newTestDatabase()), connections: 1 });
  onTestFinished(() => database.close());
  const broken = { name: "broken", sql: "SELECT nothing" };
  await expect(migrate(database, [FIRST, broken])).rejects.toThrow("nothing");
  await expect(database.all("SELECT * FROM things")).rejects.toThrow("does not exist");
});
