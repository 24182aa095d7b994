import { expect, onTestFinished, test } from "vitest";
import { newTestDatabase } from "../../../test/support/test-database.ts";
import { readDatabaseUrl } from "./database-address.ts";
import { PostgresDatabase } from "./postgres-database.ts";

async function open() {
  const url = await newTestDatabase();
  const connect = () => {
    const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 4 });
    onTestFinished(() => database.close());
    return database;
  };
  const database = connect();
  await database.run("CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT)");
  return { database, connect };
}

test("every text comes back as it was written, also one with a NUL or with what stands for one", async () => {
  const { database } = await open();
  const texts = ["", "a\0b", "\u{10FFFE}0", "\u{10FFFE}\0\u{10FFFE}", "?", "ä€😀"];
  for (const [id, text] of texts.entries()) await database.run("INSERT INTO things VALUES (?, ?)", id, text);
  const rows = await database.all<{ id: number; name: string }>("SELECT id, name FROM things ORDER BY id");
  expect(rows).toEqual(texts.map((name, id) => ({ id, name })));
  expect(await database.get("SELECT ?2::text AS b, ?1::bigint AS a", 2 ** 53 - 1, null)).toEqual({
    a: 2 ** 53 - 1,
    b: null,
  });
});

test("transactions that would see each other half-way are done one after the other", async () => {
  const { database, connect } = await open();
  await database.run("INSERT INTO things VALUES (1, '0')");
  const others = [database, connect(), connect()];
  await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      (others[n % 3] ?? database).transaction(async (sql) => {
        const row = await sql.get<{ name: string }>("SELECT name FROM things WHERE id = 1");
        await sql.run("UPDATE things SET name = ? WHERE id = 1", String(Number(row?.name) + 1));
      }),
    ),
  );
  expect(await database.get("SELECT name FROM things")).toEqual({ name: "12" });
});

test("a transaction that throws leaves nothing, and a mistake in a statement is shown as it is", async () => {
  const { database } = await open();
  const failing = database.transaction(async (sql) => {
    await sql.run("INSERT INTO things VALUES (1, 'a')");
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await database.all("SELECT * FROM things")).toEqual([]);
  await expect(database.run("INSERT INTO nothing VALUES (1)")).rejects.toThrow('relation "nothing" does not exist');
});

test("a connection that is cut is another one with the next statement", async () => {
  const { database, connect } = await open();
  const cut =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  const during = database.transaction(async (sql) => {
    await connect().all(cut);
    await sql.run("INSERT INTO things VALUES (1, 'a')");
  });
  await expect(during).rejects.toMatchObject({ code: "JOURNAL_IO" });
  expect(await database.all("SELECT * FROM things")).toEqual([]);
});

test("an address that leads nowhere is named without its password", async () => {
  const address = readDatabaseUrl("postgresql+asyncpg://me:secret%40@127.0.0.1:1/nowhere");
  expect(address.shown).toBe("127.0.0.1:1/nowhere");
  expect(() => readDatabaseUrl("mysql://x")).toThrow("not the address of a PostgreSQL database");
  expect(() => readDatabaseUrl("postgresql://me:se cret@[/")).toThrow("not the address");
});
