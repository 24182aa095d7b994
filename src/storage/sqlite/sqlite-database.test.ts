import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import { SqliteDatabase } from "./sqlite-database.ts";

const MAKE = (database: DatabaseSync) => database.exec("CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY)");

function open(path: string): SqliteDatabase {
  const database = SqliteDatabase.open({ path, durability: "process" }, MAKE);
  onTestFinished(() => database.close());
  return database;
}

test("no statement of others comes into a transaction that waits, and none is lost with it", async () => {
  const database = open(":memory:");
  const failing = database.transaction(async (sql) => {
    await sql.run("INSERT INTO things VALUES (1)");
    await setTimeout(5);
    throw new Error("no");
  });
  const other = database.run("INSERT INTO things VALUES (2)");
  const read = database.all("SELECT id FROM things");
  await expect(failing).rejects.toThrow("no");
  expect(await other).toBe(1);
  expect(await read).toEqual([{ id: 2 }]);
});

test("a lock of another process is waited out, while others read", async () => {
  const path = join(temporaryFolder(), "some.db");
  const database = open(path);
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE; INSERT INTO things VALUES (1)");
  const writing = database.transaction((sql) => sql.run("INSERT INTO things VALUES (2)"));
  expect(await database.all("SELECT id FROM things")).toEqual([]);
  other.exec("COMMIT");
  other.close();
  await writing;
  expect(await database.all("SELECT id FROM things")).toEqual([{ id: 1 }, { id: 2 }]);
});
