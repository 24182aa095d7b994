import { describe, expect, test } from "vitest";
import type { NewSlot, StoredSchedule } from "../../../src/ports/service/schedules.ts";
import { seen } from "./eventually.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";

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

export function describeSchedulesContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: schedules`, () => {
    test("a slot is claimed by one process, and the other one notices", async () => {
      const [{ schedules: one }, { schedules: other }] = await open();
      expect(await one.add(SCHEDULE)).toBe(true);
      expect(await other.add(SCHEDULE)).toBe(false);
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
      const [{ schedules }] = await open();
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
      expect(await schedules.edit("s", { version: 1, at: 7, changes: { enabled: true }, slots: [skipped] })).toBe(
        false,
      );
      expect(await schedules.list({ tenantId: "t" })).toMatchObject([{ ...changes, version: 2, updatedAt: 6 }]);
      expect(await schedules.list({ tenantId: "u" })).toEqual([]);
      expect(await schedules.nextDueAt()).toBeUndefined();
      await schedules.addSlots("s", [{ ...skipped, outcome: { state: "claimed" } }]);
      expect(await schedules.listSlots("s", { limit: 9 })).toMatchObject([skipped]);
      expect(await schedules.remove("s")).toBe(true);
      expect(await schedules.countSlots("s")).toBe(0);
    });

    test("of the slots of a schedule the last thousand are kept, and those whose run is under way", async () => {
      const [{ schedules }] = await open();
      await schedules.add(SCHEDULE);
      const slots = Array.from({ length: 1_100 }, (_, slot): NewSlot => {
        const outcome =
          slot === 0 ? ({ state: "claimed" } as const) : ({ state: "skipped", reason: "overlap" } as const);
        return { slot, kind: "cron", outcome, at: 1 };
      });
      await schedules.addSlots("s", slots);
      expect(await schedules.countSlots("s")).toBe(1_001);
      expect(await schedules.listPending()).toHaveLength(1);
    });

    test("a change by another process is noticed, and one by this process is told", async () => {
      const [{ schedules: one }, { schedules: other }] = await open();
      await one.hasChangedElsewhere();
      const told: string[] = [];
      const stop = one.watch(() => told.push("one"));
      await one.add(SCHEDULE);
      await one.edit("s", { version: 1, at: 6, changes: { enabled: false } });
      stop();
      await one.remove("s");
      expect(told).toEqual(["one", "one"]);
      if (one === other) return;
      await other.add({ ...SCHEDULE, id: "another" });
      await seen(() => one.hasChangedElsewhere(), true);
    });

    test("of several who claim a slot at once one gets it", async () => {
      const [{ schedules: one }, { schedules: other }] = await open();
      await one.add(SCHEDULE);
      const slot: NewSlot = { slot: 100, kind: "cron", outcome: { state: "claimed" }, at: 111 };
      const claim = { version: 1, fromFireAt: 100, nextFireAt: 200, dueAt: 200, slots: [slot] };
      const claims = await Promise.all([one, other, one, other].map((each) => each.claim("s", claim)));
      expect(claims.filter((isMine) => isMine)).toHaveLength(1);
      expect(await one.countSlots("s")).toBe(1);
    });
  });
}
