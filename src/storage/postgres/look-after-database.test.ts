import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createRun } from "../../../test/contracts/journal-samples.ts";
import { newTestDatabase } from "../../../test/support/test-database.ts";
import { readDatabaseUrl } from "./database-address.ts";
import { JOURNAL_MIGRATIONS } from "./journal/journal-migrations.ts";
import { openPostgresJournal } from "./journal/postgres-journal.ts";
import { lookAfterDatabase } from "./look-after-database.ts";
import { migrate } from "./migrate.ts";
import { POOL_MIGRATIONS } from "./pool-shares.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { RECORD_MIGRATIONS } from "./record-migrations.ts";

const ALL = [...JOURNAL_MIGRATIONS, ...POOL_MIGRATIONS, ...RECORD_MIGRATIONS].map(({ name }) => name);

async function open() {
  const url = await newTestDatabase();
  const address = readDatabaseUrl(url);
  const database = new PostgresDatabase({ address, connections: 2 });
  onTestFinished(() => database.close());
  return { url, address, database, care: lookAfterDatabase(database, address) };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: "a console" });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test("an empty database lacks every step, and looking at it makes nothing", async () => {
  const { database, care } = await open();
  expect(await care.look()).toMatchObject({ taken: [], missing: ALL, unknown: [], drivers: 0, oldest: undefined });
  expect(await database.get("SELECT count(*) AS tables FROM pg_tables WHERE schemaname = 'public'")).toEqual({
    tables: 0,
  });
});

test("missing steps are taken once, and it is said which", async () => {
  const { database, care } = await open();
  await migrate(database, JOURNAL_MIGRATIONS);
  const { taken, state } = await care.migrate();
  expect(taken).toEqual([...POOL_MIGRATIONS, ...RECORD_MIGRATIONS].map(({ name }) => name));
  expect(state).toMatchObject({ taken: ALL, missing: [] });
  expect((await care.migrate()).taken).toEqual([]);
});

test("steps of a newer version are told", async () => {
  const { database, care } = await open();
  await migrate(database, [...JOURNAL_MIGRATIONS, { name: "journal-9", sql: "CREATE TABLE later (id BIGINT)" }]);
  expect((await care.look()).unknown).toEqual(["journal-9"]);
});

test("a process that drives runs goes on while the tables are changed", async () => {
  const { address, database } = await open();
  const lease = { leaseMs: 60_000, lost: () => undefined, failed: () => undefined };
  const journal = await openPostgresJournal({ database, lease });
  const second = new PostgresDatabase({ address, connections: 1 });
  onTestFinished(() => second.close());
  const next = { name: "next", sql: "ALTER TABLE runs ADD COLUMN note TEXT" };
  const care = lookAfterDatabase(second, address, [...JOURNAL_MIGRATIONS, next]);
  const names = Array.from({ length: 40 }, (_, n) => `r${n}`);
  const written = Promise.all(names.map((name) => createRun(journal, name)));
  expect((await care.migrate()).taken).toEqual(["next"]);
  expect(new Set(await written).size).toBe(40);
  await createRun(journal, "after");
  expect(await journal.listRuns({ limit: 100 })).toHaveLength(41);
  await journal.close();
});

test("the processes that drive runs are counted, without those whose lease is over", async () => {
  const { database, care } = await open();
  const lease = { leaseMs: 60_000, lost: () => undefined, failed: () => undefined };
  const [one] = [await openPostgresJournal({ database, lease }), await openPostgresJournal({ database })];
  await database.run("INSERT INTO workers (id, seen_at, until) VALUES ('dead', now(), now() - interval '1 second')");
  expect((await care.look()).drivers).toBe(1);
  await one.close();
  expect((await care.look()).drivers).toBe(0);
});

test("the oldest transaction that has written is shown with its age, and none that only reads", async () => {
  const { url, care } = await open();
  const [reader, writer, later] = [await connect(url), await connect(url), await connect(url)];
  await reader.query("BEGIN; SELECT 1");
  expect((await care.look()).oldest).toBeUndefined();
  await writer.query("BEGIN; SELECT pg_current_xact_id()");
  await later.query("BEGIN; SELECT pg_current_xact_id()");
  const { rows } = await writer.query("SELECT pg_backend_pid() AS pid");
  const { oldest } = await care.look();
  expect(oldest).toMatchObject({ pid: rows[0].pid, program: "a console", state: "idle in transaction" });
  expect(oldest?.ageMs).toBeGreaterThanOrEqual(0);
  await writer.query("ROLLBACK");
  expect((await care.look()).oldest?.pid).not.toBe(rows[0].pid);
});

test("another user is told of a transaction without its age", async () => {
  const { url, address } = await open();
  const writer = await connect(url);
  const name = `u${Date.now()}`;
  await writer.query(`CREATE ROLE ${name} LOGIN`);
  await writer.query("BEGIN; SELECT pg_current_xact_id()");
  const theirs = url.replace("//pawl@", `//${name}@`);
  const database = new PostgresDatabase({ address: readDatabaseUrl(theirs), connections: 1 });
  onTestFinished(() => database.close());
  expect((await lookAfterDatabase(database, address).look()).oldest).toMatchObject({ ageMs: null, state: null });
  await writer.query("ROLLBACK");
});
