import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import { StorageThread } from "../../src/app/storage-thread/storage-thread.ts";
import type { StoredKey } from "../../src/ports/service/api-keys.ts";
import type { Budget, RunShare } from "../../src/ports/service/budgets.ts";
import type { NewSlot, StoredSchedule } from "../../src/ports/service/schedules.ts";
import { openServiceDatabase } from "../../src/storage/sqlite/service/open-service-database.ts";
import { openEmptyJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const KEY: StoredKey = { id: "0123456789ab", name: "n", secretHash: "00", scopes: ["read", "admin"], createdAt: 5 };

function open(path: string) {
  const records = openServiceRecords({ path, durability: "power" });
  onTestFinished(() => records.close());
  return records;
}

/** Written in a thread, which begins and ends with it. */
function openAsServer(path: string) {
  const [journal, conversations] = [`${path}-journal`, `${path}-conversations`];
  const thread = new StorageThread({ journal, service: path, conversations, durability: "power" });
  const records = openServiceRecords({ path, durability: "power" }, () => thread);
  onTestFinished(async () => {
    records.close();
    await thread.journal(openEmptyJournal()).close();
  });
  return records;
}

test("what one process has stored, another finds, and it is there after a restart", async () => {
  const path = join(temporaryFolder(), "new", "service.db");
  const [one, other] = [openAsServer(path), open(path)];
  expect(await one.keys.areThere()).toBe(false);
  const full: StoredKey = { ...KEY, id: "ffffffffffff", tenantId: "t", maxCostMicro: 7, expiresAt: 9 };
  await one.keys.add(KEY);
  await other.keys.add(full);
  expect(await other.keys.find(KEY.id)).toEqual(KEY);
  expect(await one.keys.list({})).toEqual([KEY, full]);
  expect(await one.keys.list({ tenantId: "t" })).toEqual([full]);
  expect(await one.keys.revoke(KEY.id, 8)).toBe(true);
  expect(await other.keys.revoke(KEY.id, 9)).toBe(false);
  expect(await open(path).keys.find(KEY.id)).toEqual({ ...KEY, revokedAt: 8 });
  expect(await other.keys.areThere()).toBe(true);
});

test("what every request asks for is read again as soon as somebody has changed it, here or in another process", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [one, other] = [openAsServer(path), open(path)];
  const seen = async () => [await one.keys.areThere(), (await one.definitions.find({ name: "n" }))?.version];
  expect(await seen()).toEqual([false, undefined]);
  await other.keys.add(KEY);
  await other.definitions.save({ name: "n", text: "first", at: 1 });
  await nextTurn();
  expect(await seen()).toEqual([true, 1]);
  await one.keys.revoke(KEY.id, 8);
  await one.definitions.save({ name: "n", text: "second", at: 2 });
  expect(await seen()).toEqual([false, 2]);
  await one.definitions.remove({ name: "n" });
  expect(await seen()).toEqual([false, undefined]);
});

test("of a budget every process reads the same, what ended runs have used included, and each is added once", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [one, other] = [openAsServer(path).budgets, open(path).budgets];
  const budget: Budget = {
    id: "b",
    workflow: "w",
    tenantId: "t",
    per: "day",
    limits: { cost: 9, duration: 7 },
    onExceeded: "ask",
    webhook: "https://example.com",
    createdAt: 1,
    updatedAt: 1,
  };
  expect(await one.put(budget)).toEqual(budget);
  expect(await other.put({ ...budget, limits: { tries: 1 }, createdAt: 2, updatedAt: 2 })).toMatchObject({
    limits: { tries: 1 },
    createdAt: 1,
    updatedAt: 2,
  });
  expect(one.applying({ workflow: "w", tenantId: "t" })).toHaveLength(1);
  expect(one.applying({ workflow: "w" })).toEqual([]);
  expect(one.applying({ workflow: "v", tenantId: "t" })).toEqual([]);
  const share = (cost: number): RunShare => ({
    budget: "b",
    day: "2026-01-01",
    use: { cost, tokens: 2, tries: 1, duration: 3, unpriced: cost === 4 },
  });
  await one.note("r", [share(3)], 5);
  await one.note("r", [share(4)], 6);
  await other.note("s", [share(1)], 2);
  expect(other.open()).toEqual([
    { run: "r", upToSeq: 6, budgets: ["b"] },
    { run: "s", upToSeq: 2, budgets: ["b"] },
  ]);
  await one.close("r", [share(4)]);
  await other.close("r", [share(4)]);
  await one.raise("q", { budget: "b", day: "2026-01-01", by: { tries: 2 } });
  await other.raise("q", { budget: "b", day: "2026-01-01", by: { tries: 2 } });
  const use = { cost: 5, tokens: 4, tries: 2, duration: 6, unpriced: true };
  expect(other.sum("b", "2026-01-01")).toMatchObject({ use, raised: { tries: 2 } });
  expect(one.sum("b", "2026-01-02")).toMatchObject({ use: { cost: 0, unpriced: false } });
  expect([await one.remove("b"), await other.remove("b")]).toEqual([true, false]);
  expect(other.open()).toEqual([]);
});

test("a key is claimed once, also by two processes", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [one, other] = [openAsServer(path), open(path)];
  const claim = { key: "k", requestHash: "h", at: 0 };
  expect(await one.idempotency.find(claim)).toBeUndefined();
  expect(await one.idempotency.claim({ ...claim, runId: "a" })).toMatchObject({ runId: "a", isNew: true });
  expect(await other.idempotency.claim({ ...claim, runId: "b" })).toMatchObject({ runId: "a", isNew: false });
  expect(await other.idempotency.claim({ ...claim, tenantId: "t", runId: "c" })).toMatchObject({ runId: "c" });
  const aDayLater = 24 * 60 * 60 * 1_000;
  expect(await other.idempotency.find({ key: "k", at: aDayLater })).toMatchObject({ runId: "a" });
  expect(await other.idempotency.find({ key: "k", at: aDayLater + 1 })).toBeUndefined();
});

test("versions of a definition are counted by name and owner, also by two processes", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [{ definitions: one }, { definitions: other }] = [openAsServer(path), open(path)];
  const shared = { name: "n", text: "first", at: 1 };
  expect(await one.save(shared)).toEqual({ stored: { ...shared, version: 1 }, isNew: true });
  expect(await other.save({ ...shared, at: 2 })).toEqual({ stored: { ...shared, version: 1 }, isNew: false });
  expect(await other.save({ ...shared, text: "second", at: 3 })).toMatchObject({ stored: { version: 2 } });
  expect(await one.save({ ...shared, tenantId: "t" })).toMatchObject({ stored: { version: 1, tenantId: "t" } });
  expect(await one.find({ name: "n" })).toMatchObject({ version: 2, text: "second" });
  expect(await one.find({ name: "n", version: 1 })).toEqual({ ...shared, version: 1 });
  expect(await one.list({})).toMatchObject([{ version: 2, text: "second", at: 3 }]);
  expect(await one.list({ tenantId: "t" })).toMatchObject([{ version: 1 }]);
  expect((await other.versions({ name: "n" })).map(({ version }) => version)).toEqual([2, 1]);
  expect(await other.remove({ name: "n" })).toBe(true);
  expect(await one.remove({ name: "n" })).toBe(false);
  expect(await one.find({ name: "n", tenantId: "t" })).toBeDefined();
});

test("what starts the newest version of a definition is known, and of what an older program has saved that nobody knows", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [{ definitions: one }, { definitions: other }] = [openAsServer(path), open(path)];
  const names = async (list: Promise<readonly { readonly name: string }[]>) => (await list).map(({ name }) => name);
  await one.save({ name: "routed", text: "1", at: 1, startsBy: "http", maxCostMicro: 5 });
  await one.save({ name: "timed", tenantId: "t", text: "1", at: 1, startsBy: "cron" });
  await one.save({ name: "old", text: "1", at: 1 });
  expect(await names(other.listTriggered({}))).toEqual(["routed"]);
  expect(await names(other.listTimed())).toEqual(["old", "timed"]);
  await other.markStart({ name: "old", version: 1, startsBy: "queue" });
  await other.save({ name: "routed", text: "1", at: 2, startsBy: "http", maxCostMicro: 7 });
  await nextTurn();
  expect(await one.listTriggered({})).toMatchObject([{ name: "old" }, { name: "routed", version: 1, maxCostMicro: 7 }]);
  await other.save({ name: "routed", text: "2", at: 2, startsBy: "nothing" });
  await nextTurn();
  expect(await names(one.listTriggered({}))).toEqual(["old"]);
  expect(await names(one.listTimed())).toEqual(["timed"]);
});

test("of what an older version has saved a run may cost what its schedule says, else the least of its owner's keys that may save", () => {
  const path = join(temporaryFolder(), "service.db");
  openServiceRecords({ path, durability: "process" }).close();
  const old = new DatabaseSync(path);
  old.exec(`DROP INDEX workflow_definitions_triggered; DROP INDEX workflow_definitions_timed;
    ALTER TABLE workflow_definitions DROP COLUMN starts_by; ALTER TABLE workflow_definitions DROP COLUMN max_cost_micro;
    ALTER TABLE api_keys DROP COLUMN tells_context; ALTER TABLE api_keys DROP COLUMN grant;
    ALTER TABLE workflow_definitions DROP COLUMN grant; ALTER TABLE schedules DROP COLUMN grant;
    DELETE FROM steps WHERE name IN ('workflow-definitions-2', 'api-keys-2', 'grants-1');
    INSERT INTO workflow_definitions VALUES ('a', 'n', 1, '', 0), ('a', 'scheduled', 1, '', 0), ('', 'n', 1, '', 0);
    INSERT INTO api_keys VALUES ('1', '', '', 'write', 'a', 900, 0, NULL, NULL), ('2', '', '', 'admin', 'a', 500, 0, NULL, 1),
      ('3', '', '', 'run', 'a', 100, 0, NULL, NULL), ('4', '', '', 'write', NULL, NULL, 0, NULL, NULL);
    INSERT INTO schedules VALUES ('s', 'scheduled', '@daily', 'UTC', '{}', NULL, 1, NULL, 'skip', 'one', 0, 'saved', 'a', 700, NULL,
      NULL, NULL, 1, 0, 0)`);
  old.close();
  const database = openServiceDatabase({ path, durability: "process" });
  const rows = database.all<object>(
    "SELECT tenant_id, name, max_cost_micro FROM workflow_definitions ORDER BY tenant_id, name",
  );
  database.close();
  expect(rows.map((row) => Object.values(row))).toEqual([
    ["", "n", null],
    ["a", "n", 500],
    ["a", "scheduled", 700],
  ]);
});

test("a dead letter is dealt with once, also by two processes", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [one, other] = [openAsServer(path), open(path)];
  const note = { run: "r", path: "a[1]", status: "retried", at: 5, newRun: "n", isPending: true } as const;
  expect(await one.deadLetters.close(note)).toBe(true);
  expect(await other.deadLetters.close({ ...note, status: "resolved", note: "no" })).toBe(false);
  expect(await other.deadLetters.find("r", "a[1]")).toEqual(note);
  expect(await other.deadLetters.find("r", "a[2]")).toBeUndefined();
  await one.deadLetters.reopen("r", "a[1]", "another");
  expect(await other.deadLetters.find("r", "a[1]")).toEqual(note);
  await one.deadLetters.reopen("r", "a[1]", "n");
  expect(await other.deadLetters.close(note)).toBe(true);
  await one.deadLetters.confirm("r", "a[1]");
  const { isPending: _, ...confirmed } = note;
  expect(await other.deadLetters.find("r", "a[1]")).toEqual(confirmed);
  await other.deadLetters.reopen("r", "a[1]", "n");
  expect(await other.deadLetters.find("r", "a[1]")).toEqual(confirmed);
  await one.deadLetters.forget("r");
  expect(await other.deadLetters.close({ run: "r", path: "a[1]", status: "resolved", at: 6, note: "no" })).toBe(true);
  expect(await one.deadLetters.find("r", "a[1]")).toMatchObject({ status: "resolved", note: "no" });
  await one.deadLetters.forget("r");
  expect(await other.deadLetters.find("r", "a[1]")).toBeUndefined();
});

const SCHEDULE: StoredSchedule = {
  id: "s",
  workflow: "w",
  cron: "0 * * * *",
  timezone: "UTC",
  input: { a: 1 },
  enabled: true,
  overlap: "skip",
  catchUp: "one",
  jitterSeconds: 0,
  source: "api",
  nextFireAt: 100,
  dueAt: 110,
  version: 1,
  createdAt: 5,
  updatedAt: 5,
};

test("a slot is claimed by one process, and the other one notices", async () => {
  const path = join(temporaryFolder(), "service.db");
  const { schedules: one } = openAsServer(path);
  const { schedules: other } = open(path);
  expect(await one.add(SCHEDULE)).toBe(true);
  expect(await other.add(SCHEDULE)).toBe(false);
  expect(other.hasChangedElsewhere()).toBe(true);
  expect(other.hasChangedElsewhere()).toBe(false);
  expect(await other.listDue(109)).toEqual([]);
  expect(await other.listDue(110)).toEqual([SCHEDULE]);
  const slot: NewSlot = { slot: 100, kind: "cron", outcome: { state: "claimed" }, count: 1, at: 111 };
  const claim = { version: 1, fromFireAt: 100, nextFireAt: 200, dueAt: 200, slots: [slot] };
  expect(await one.claim("s", claim)).toBe(true);
  expect(await other.claim("s", claim)).toBe(false);
  const [pending, ...more] = await other.listPending();
  expect([pending, more]).toMatchObject([{ ...slot, scheduleId: "s" }, []]);

  await other.settle(pending?.seq ?? 0, { state: "started", runId: "r" });
  expect(await one.listRunning("s")).toMatchObject([{ outcome: { state: "started", runId: "r" } }]);
  expect(await one.find("s")).toEqual({ ...SCHEDULE, nextFireAt: 200, dueAt: 200, lastRunId: "r" });
  await one.finish([pending?.seq ?? 0]);
  expect(await other.listRunning("s")).toEqual([]);
});

test("an edit of what has changed meanwhile changes nothing, and a slot that has a record keeps it", async () => {
  const { schedules } = open(join(temporaryFolder(), "service.db"));
  await schedules.add({ ...SCHEDULE, tenantId: "t", maxCostMicro: 7 });
  const skipped: NewSlot = {
    slot: 100,
    kind: "cron",
    outcome: { state: "skipped", reason: "missed" },
    count: 1,
    at: 1,
  };
  const changes = { enabled: false, disabledReason: "paused", jitterSeconds: 9, maxCostMicro: 5 } as const;
  expect(await schedules.edit("s", { version: 1, at: 6, changes, slots: [skipped] })).toBe(true);
  expect(await schedules.edit("s", { version: 1, at: 7, changes: { enabled: true }, slots: [skipped] })).toBe(false);
  expect(await schedules.list({ tenantId: "t" })).toMatchObject([{ ...changes, version: 2, updatedAt: 6 }]);
  expect(await schedules.list({ tenantId: "u" })).toEqual([]);
  expect(await schedules.nextDueAt()).toBeUndefined();
  await schedules.addSlots("s", [{ ...skipped, outcome: { state: "claimed" } }]);
  expect(await schedules.listSlots("s", { limit: 9 })).toMatchObject([skipped]);
  expect(await schedules.remove("s")).toBe(true);
  expect(await schedules.countSlots("s")).toBe(0);
});

test("of the slots of a schedule the last thousand are kept, and those whose run is under way", async () => {
  const { schedules } = open(join(temporaryFolder(), "service.db"));
  await schedules.add(SCHEDULE);
  const slots = Array.from({ length: 1_100 }, (_, slot): NewSlot => {
    const outcome = slot === 0 ? ({ state: "claimed" } as const) : ({ state: "skipped", reason: "overlap" } as const);
    return { slot, kind: "cron", outcome, at: 1 };
  });
  await schedules.addSlots("s", slots);
  expect(await schedules.countSlots("s")).toBe(1_001);
  expect(await schedules.listPending()).toHaveLength(1);
});

test("a file that is none of ours is named, not touched", () => {
  const path = join(temporaryFolder(), "service.db");
  writeFileSync(path, "this is no database, however long one looks at it".repeat(100));
  expect(() => openServiceRecords({ path, durability: "power" })).toThrow(
    expect.objectContaining({ code: "JOURNAL_DAMAGED" }),
  );
});

test("tables that another version has made stay, and steps are taken once", () => {
  const path = join(temporaryFolder(), "service.db");
  open(path);
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  const count = () => database.prepare("SELECT count(*) AS n FROM steps").get()?.["n"];
  const before = Number(count());
  database.exec("CREATE TABLE later (x)");
  database.exec("INSERT INTO steps (name) VALUES ('later-1')");
  open(path);
  expect(count()).toBe(before + 1);
});
