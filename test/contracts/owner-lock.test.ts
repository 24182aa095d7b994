import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { acquireOwnerLock, type OwnerLock } from "../../src/storage/sqlite/owner-lock.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const HOLD_OWNER_LOCK = fileURLToPath(new URL("./hold-owner-lock.ts", import.meta.url));
const info = { pid: process.pid, host: "here", socket: "/tmp/x.sock" };

function acquire(dataDir: string): OwnerLock {
  const lock = acquireOwnerLock(dataDir, info);
  onTestFinished(() => {
    if (lock.acquired) lock.release();
  });
  return lock;
}

interface Holder {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly said: string;
}

async function startHolder(dataDir: string): Promise<Holder> {
  const child = spawn(process.execPath, [HOLD_OWNER_LOCK, dataDir], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const [said] = await once(child.stdout, "data");
  return { child, said: String(said).trim() };
}

test("the first gets the lock and is told to the second", () => {
  const dataDir = join(temporaryFolder(), "new", "folder");
  expect(acquire(dataDir)).toMatchObject({ acquired: true });
  expect(acquire(dataDir)).toEqual({ acquired: false, heldBy: info });
});

test("a released lock is free, and says nothing about its owner any more", () => {
  const dataDir = temporaryFolder();
  const first = acquireOwnerLock(dataDir, info);
  if (first.acquired) first.release();

  expect(existsSync(join(dataDir, "lock.json"))).toBe(false);
  expect(acquire(dataDir)).toMatchObject({ acquired: true });
});

test("an owner can say later where else it is reached", () => {
  const dataDir = temporaryFolder();
  const first = acquire(dataDir);
  if (first.acquired) first.announce({ ...info, url: "http://127.0.0.1:1" });
  expect(acquire(dataDir)).toEqual({ acquired: false, heldBy: { ...info, url: "http://127.0.0.1:1" } });
});

test.each(["", "{", "[]", '{"pid":"1"}'])("a lock.json of %j informs about nothing and locks nothing", (text) => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, "lock.json"), text);
  const first = acquire(dataDir);
  expect(first.acquired).toBe(true);

  writeFileSync(join(dataDir, "lock.json"), text);
  expect(acquire(dataDir)).toEqual({ acquired: false, heldBy: undefined });
});

test("another process holds the lock, and gives it back when it ends", async () => {
  const dataDir = temporaryFolder();
  const { child, said } = await startHolder(dataDir);

  expect(said).toBe("acquired");
  expect(acquire(dataDir)).toMatchObject({ acquired: false, heldBy: { pid: child.pid, host: "child" } });

  child.stdin.end();
  await once(child, "exit");
  expect(acquire(dataDir)).toMatchObject({ acquired: true });
});

test("after kill -9 the lock is free at once, whatever lock.json still says", async () => {
  const dataDir = temporaryFolder();
  const { child } = await startHolder(dataDir);

  child.kill("SIGKILL");
  await once(child, "exit");

  expect(JSON.parse(readFileSync(join(dataDir, "lock.json"), "utf8"))).toMatchObject({ pid: child.pid });
  expect(acquire(dataDir)).toMatchObject({ acquired: true });
  expect(JSON.parse(readFileSync(join(dataDir, "lock.json"), "utf8"))).toEqual(info);
});

test("of many processes that ask, at most one gets the lock", async () => {
  const dataDir = temporaryFolder();
  const holders = await Promise.all(Array.from({ length: 6 }, () => startHolder(dataDir)));
  expect(holders.filter(({ said }) => said === "acquired").length).toBeLessThanOrEqual(1);
});

test("being turned away does not wait", () => {
  const dataDir = temporaryFolder();
  acquire(dataDir);
  const before = performance.now();
  acquire(dataDir);
  expect(performance.now() - before).toBeLessThan(500);
});

test("a data directory that cannot be is a typed error", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  expect(() => acquire(join(folder, "file"))).toThrow(expect.objectContaining({ code: "JOURNAL_IO" }));
  // Where folders exist that take no other, Node's own way of making them never ends.
  const remedy = expect.stringContaining("--data DIR");
  for (const nowhere of ["/proc/none", "/proc/none/below"])
    expect(() => acquire(nowhere)).toThrow(expect.objectContaining({ code: "JOURNAL_IO", remedy }));
});
