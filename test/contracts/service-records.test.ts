import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import type { StoredKey } from "../../src/ports/api-keys.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const KEY: StoredKey = { id: "0123456789ab", name: "n", secretHash: "00", scopes: ["read", "admin"], createdAt: 5 };

function open(path: string) {
  const records = openServiceRecords({ path, durability: "power" });
  onTestFinished(() => records.close());
  return records;
}

test("what one process has stored, another finds, and it is there after a restart", async () => {
  const path = join(temporaryFolder(), "new", "service.db");
  const [one, other] = [open(path), open(path)];
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

test("a key is claimed once, also by two processes", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [one, other] = [open(path), open(path)];
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
  const [{ definitions: one }, { definitions: other }] = [open(path), open(path)];
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

test("a dead letter is dealt with once, also by two processes", async () => {
  const path = join(temporaryFolder(), "service.db");
  const [one, other] = [open(path), open(path)];
  const note = { run: "r", path: "a[1]", status: "retried", at: 5, newRun: "n" } as const;
  expect(await one.deadLetters.close(note)).toBe(true);
  expect(await other.deadLetters.close({ ...note, status: "resolved", note: "no" })).toBe(false);
  expect(await other.deadLetters.find("r", "a[1]")).toEqual(note);
  expect(await other.deadLetters.find("r", "a[2]")).toBeUndefined();
  await one.deadLetters.reopen("r", "a[1]");
  expect(await other.deadLetters.close({ run: "r", path: "a[1]", status: "resolved", at: 6, note: "no" })).toBe(true);
  await one.deadLetters.reopen("r", "a[1]");
  expect(await one.deadLetters.find("r", "a[1]")).toMatchObject({ status: "resolved", note: "no" });
  await one.deadLetters.forget("r");
  expect(await other.deadLetters.find("r", "a[1]")).toBeUndefined();
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
