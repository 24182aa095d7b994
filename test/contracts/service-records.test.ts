import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import { optional, RecordTable, text } from "../../src/storage/records/record-table.ts";
import { openServiceFile } from "../../src/storage/sqlite/record-files.ts";
import { SqliteDatabase } from "../../src/storage/sqlite/sqlite-database.ts";
import { temporaryFolder } from "./temporary-folder.ts";

function open(path: string) {
  const records = openServiceRecords({ path, durability: "power" });
  onTestFinished(() => records.close());
  return records;
}

test("of what an older version has saved a run may cost what its schedule says, else the least of its owner's keys that may save", async () => {
  const path = join(temporaryFolder(), "service.db");
  await openServiceRecords({ path, durability: "process" }).close();
  const old = new DatabaseSync(path);
  old.exec(`DROP INDEX workflow_definitions_triggered; DROP INDEX workflow_definitions_timed;
    ALTER TABLE workflow_definitions DROP COLUMN starts_by; ALTER TABLE workflow_definitions DROP COLUMN max_cost_micro;
    ALTER TABLE api_keys DROP COLUMN tells_context; ALTER TABLE api_keys DROP COLUMN grant;
    ALTER TABLE api_keys DROP COLUMN groups; ALTER TABLE schedules DROP COLUMN requested_by; ALTER TABLE schedules DROP COLUMN says;
    ALTER TABLE workflow_definitions DROP COLUMN grant; ALTER TABLE schedules DROP COLUMN grant;
    INSERT INTO workflow_definitions VALUES ('a', 'n', 1, '', 0), ('a', 'scheduled', 1, '', 0), ('', 'n', 1, '', 0);
    INSERT INTO api_keys VALUES ('1', '', '', 'write', 'a', 900, 0, NULL, NULL), ('2', '', '', 'admin', 'a', 500, 0, NULL, 1),
      ('3', '', '', 'run', 'a', 100, 0, NULL, NULL), ('4', '', '', 'write', NULL, NULL, 0, NULL, NULL);
    INSERT INTO schedules VALUES ('s', 'scheduled', '@daily', 'UTC', '{}', NULL, 1, NULL, 'skip', 'one', 0, 'saved', 'a', 700, NULL,
      NULL, NULL, 1, 0, 0)`);
  old.close();
  const database = openServiceFile({ path, durability: "process" });
  const rows = await database.all<object>(
    "SELECT tenant_id, name, max_cost_micro FROM workflow_definitions ORDER BY tenant_id, name",
  );
  await database.close();
  expect(rows.map((row) => Object.values(row))).toEqual([
    ["", "n", null],
    ["a", "n", 500],
    ["a", "scheduled", 700],
  ]);
});

test("a file that is none of ours is named, not touched", () => {
  const path = join(temporaryFolder(), "service.db");
  writeFileSync(path, "this is no database, however long one looks at it".repeat(100));
  expect(() => openServiceRecords({ path, durability: "power" })).toThrow(
    expect.objectContaining({ code: "JOURNAL_DAMAGED" }),
  );
});

test("tables that are not ours stay", () => {
  const path = join(temporaryFolder(), "service.db");
  open(path);
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  database.exec("CREATE TABLE later (x)");
  open(path);
  expect(database.prepare("SELECT x FROM later").all()).toEqual([]);
});

test("a file lacks nothing that its description has: tables, columns and indexes are added to what is there", async () => {
  const path = join(temporaryFolder(), "service.db");
  open(path);
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  const schema = () => database.prepare("SELECT name FROM sqlite_schema ORDER BY name").all();
  const before = schema();
  database.exec(`DROP INDEX deliveries_claimed; ALTER TABLE deliveries DROP COLUMN claimed_by; DROP INDEX deliveries_by_end;
    ALTER TABLE budget_shares DROP COLUMN holder; DROP TABLE budget_leases;
    INSERT INTO budget_shares VALUES ('b', 'd', 'r', 1, 2, 3, 4, 0, 5)`);
  const { budgets } = open(path);
  expect(schema()).toEqual(before);
  expect(await budgets.sharesOf("r")).toEqual([
    { budget: "b", day: "d", holder: "", use: { cost: 1, tokens: 2, tries: 3, duration: 4, unpriced: false } },
  ]);
});

test("a file in which a newer version has added something is not used: it would be written without that", async () => {
  const path = join(temporaryFolder(), "service.db");
  await openServiceRecords({ path, durability: "process" }).close();
  const newer = new DatabaseSync(path);
  newer.exec("ALTER TABLE budget_shares ADD COLUMN later TEXT");
  newer.close();
  const asked = () => openServiceRecords({ path, durability: "process" });
  expect(asked).toThrow(expect.objectContaining({ code: "JOURNAL_NEWER" }));
  expect(asked).toThrow("budget_shares.later");
});

test("a column that is described as added is added to the tables that are there", async () => {
  const database = SqliteDatabase.open({ path: ":memory:", durability: "process" }, (file) =>
    file.exec("CREATE TABLE things (id TEXT PRIMARY KEY); INSERT INTO things VALUES ('old')"),
  );
  onTestFinished(() => database.close());
  const things = new RecordTable<{ readonly id: string; readonly label?: string }>("things", {
    id: text,
    label: optional(text),
  });
  const dialect = { types: { TEXT: "TEXT", BIGINT: "INTEGER", SERIAL: "" }, byKey: "" };
  await database.run(things.complete(dialect, new Set(["things.id"])) ?? "");
  await things.insert(database, { id: "new", label: "mine" });
  expect(await things.list(database, {}, "ORDER BY id")).toEqual([{ id: "new", label: "mine" }, { id: "old" }]);
});
