import { expect, test } from "vitest";
import { task, toGraph } from "../../../test/faults/graphs.ts";
import { World } from "../../../test/faults/world.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal, RunNo } from "../../ports/journal.ts";

/** As several processes share it: nobody is given what somebody has. */
function shared(journal: Journal): Journal {
  const given = new Set<RunNo>();
  const claimDue: Journal["claimDue"] = async ({ limit, ...options }) => {
    const due = await journal.claimDue({ ...options, limit: Number.MAX_SAFE_INTEGER });
    const free = due.filter(({ no }) => !given.has(no)).slice(0, limit);
    for (const { no } of free) given.add(no);
    return free;
  };
  return new Proxy(journal, {
    get(target, name) {
      if (name === "claimDue") return claimDue;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

test("a process that is woken several times at once takes up no more runs than it has room for", async () => {
  const endless = { plays: { work: () => new Promise<never>(() => undefined) } };
  const first = new World(endless);
  for (let n = 0; n < 10; n += 1) await first.start(toGraph([task("work")]));
  const host = { drives: { runs: "all", concurrency: 2 } } as const;
  const second = first.next({ ...endless, journal: shared(first.journal), host });
  await Promise.all([second.host.takeUpDue(), second.host.recover(), second.host.takeUpDue()]);
  expect(second.host.driving).toBe(2);
});

test("a run that was let go of in vain is taken up when it is found again", async () => {
  const first = new World({ plays: { work: () => new Promise<never>(() => undefined) } });
  await first.start(toGraph([task("work")]));
  let isElsewhere = true;
  const journal = new Proxy(first.journal, {
    get(target, name) {
      if (name === "claim" && isElsewhere) return async () => undefined;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const second = first.next({ journal });
  await second.host.takeUpDue();
  expect([second.host.driving, second.defects]).toEqual([0, []]);
  isElsewhere = false;
  await second.host.takeUpDue();
  expect(second.host.driving).toBe(1);
});

test("a claimed run that cannot be read is let go of, so that it is found again", async () => {
  const first = new World({ plays: { work: () => new Promise<never>(() => undefined) } });
  const { no } = await first.start(toGraph([task("work")]));
  const released: RunNo[] = [];
  const journal = new Proxy(first.journal, {
    get(target, name) {
      if (name === "claim")
        return () => Promise.reject(new PawlError("JOURNAL_IO", { message: "The connection is cut." }));
      if (name === "release") return async (runs: readonly RunNo[]) => void released.push(...runs);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  await first.next({ journal }).host.takeUpDue();
  await expect.poll(() => released).toEqual([no]);
});
