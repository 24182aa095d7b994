import { expect, test } from "vitest";
import type { ObservedRun } from "../../ports/run-observer.ts";
import { Quotas, RequestUse, weighJson } from "./quotas.ts";

const MOST = { requests: 2, bodies: 1, runs: 2, streams: 1, stored_bytes: 1_000 };
const NONE = async () => 0;
const HEAP = 80_000_000;

test("what a tenant has in use is refused beyond its quota, and another tenant has its own", () => {
  const quotas = new Quotas(MOST, NONE, HEAP);
  const [first, second, third] = [new RequestUse(quotas), new RequestUse(quotas), new RequestUse(quotas)];
  first.admit("mallory");
  second.admit("mallory");
  expect(() => third.admit("mallory")).toThrow("2 requests under way");
  expect(() => new RequestUse(quotas).admit("alice")).not.toThrow();
  first.release();
  expect(() => new RequestUse(quotas).admit("mallory")).not.toThrow();
});

test("all tenants together have a quarter of the heap, and each an eighth", () => {
  const quotas = new Quotas(MOST, NONE, HEAP);
  expect(() => quotas.take("mallory", "memory", 10_000_001)).toThrow("of this tenant's requests");
  quotas.take("mallory", "memory", 10_000_000);
  quotas.take("alice", "memory", 10_000_000);
  expect(() => quotas.take("bob", "memory", 1)).toThrow("of all requests");
  quotas.give("alice", "memory", 10_000_000);
  expect(() => quotas.take("bob", "memory", 1)).not.toThrow();
});

test("callers without a tenant have as many of everything as they like, but for memory", () => {
  const quotas = new Quotas(MOST, NONE, HEAP);
  for (let n = 0; n < 10; n += 1) new RequestUse(quotas).admit("");
  expect(quotas.used.get("")?.requests).toBe(10);
  expect(() => quotas.take("", "memory", 10_000_001)).toThrow("memory");
});

test("a run counts from its first event in this process to its end", () => {
  const quotas = new Quotas(MOST, NONE, HEAP);
  const tell = (runId: string, type: "runResumed" | "runFinished") => {
    const event = type === "runResumed" ? { type, at: 1 } : { type, at: 1, status: "completed" as const };
    quotas.committed({ runId, tenantId: "mallory" } as ObservedRun, [{ seq: 1, event }]);
  };
  tell("a", "runResumed");
  tell("a", "runResumed");
  tell("b", "runResumed");
  expect(() => quotas.check("mallory", "runs", 1)).toThrow("2 runs that have not ended");
  tell("a", "runFinished");
  tell("a", "runFinished");
  expect(() => quotas.check("mallory", "runs", 1)).not.toThrow();
  tell("b", "runFinished");
  expect(quotas.used.size).toBe(0);
});

test("a tenant whose runs have stored what they may begins no more until some are gone", async () => {
  let stored = 999;
  const quotas = new Quotas(MOST, async (tenant) => (tenant === "mallory" ? stored : 0), HEAP);
  await quotas.admitRun("mallory");
  stored = 1_000;
  await expect.poll(() => quotas.admitRun("mallory").catch((error) => error.code)).toBe("STORED_TOO_MUCH");
  expect(quotas.used.get("mallory")).toMatchObject({ stored_bytes: 1_000 });
  await quotas.admitRun("alice");
  await quotas.admitRun("");
  stored = 0;
  await expect.poll(() => quotas.admitRun("mallory")).toBeUndefined();
  expect(quotas.used.size).toBe(0);
});

test("what many ask for at once is read once", async () => {
  let reads = 0;
  const quotas = new Quotas(MOST, async () => ++reads, HEAP);
  await Promise.all([quotas.readStored("mallory"), quotas.readStored("mallory"), quotas.admitRun("mallory")]);
  expect(reads).toBe(1);
});

test("a list of empty objects weighs as many times more as it takes in memory", () => {
  const objects = `[${Array(100_000).fill("{}").join(",")}]`;
  expect(weighJson(objects) / objects.length).toBeGreaterThan(20);
  expect(weighJson("x".repeat(1_000_000)) / 1_000_000).toBeLessThan(4);
});
