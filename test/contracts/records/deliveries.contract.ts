import { describe, expect, test } from "vitest";
import type { Deliveries, DueWanted, MadeTry, NewDelivery } from "../../../src/ports/service/deliveries.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";

const DELIVERY: NewDelivery = {
  id: "d",
  channel: "webhook",
  event: "run.completed",
  workflow: "w",
  url: "https://example.com",
  readsEnv: true,
  sealedHeaders: "",
  body: "{}",
  lane: "l",
  createdAt: 5,
};

const made = (next: MadeTry["next"], gone = false): MadeTry => ({
  made: { at: 10, durationMs: 3, status: 500, excerpt: "oh" },
  next,
  gone,
});

const dueOf = async (deliveries: Deliveries, wanted: Partial<DueWanted> = {}) => {
  const due = await deliveries.listDue({ now: 100, limit: 9, fullLanes: [], flying: [], ...wanted });
  return due.map(({ id }) => id);
};

export function describeDeliveriesContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: deliveries`, () => {
    test("a delivery is stored once, and every process finds it", async () => {
      const [{ deliveries: one }, { deliveries: other }] = await open();
      expect(await one.add({ ...DELIVERY, tenantId: "t", runId: "r" })).toBe(true);
      expect(await other.add({ ...DELIVERY, body: "other" })).toBe(false);
      const { body: _, ...stored } = DELIVERY;
      expect(await other.find("d")).toEqual({
        ...stored,
        tenantId: "t",
        runId: "r",
        no: 1,
        state: { status: "pending", nextAt: 5 },
        tries: 0,
        round: 1,
        triesInRound: 0,
      });
      expect(await other.readBody("d")).toBe("{}");
      expect(await one.find("e")).toBeUndefined();
    });

    test("they are selected by tenant, run and state, newest first, and counted", async () => {
      const [{ deliveries: one }, { deliveries: other }] = await open();
      for (const n of [1, 2, 3, 4]) {
        await one.add({ ...DELIVERY, id: `d${n}`, tenantId: n % 2 === 0 ? "even" : "odd", runId: `r${n}` });
      }
      const third = await other.find("d3");
      if (third !== undefined) await other.skip(third, { at: 7, reason: "no" });
      const ids = async (filter: object) => (await one.list({ limit: 9, ...filter })).map(({ id }) => id);
      expect(await ids({})).toEqual(["d4", "d3", "d2", "d1"]);
      expect(await ids({ tenantId: "odd" })).toEqual(["d3", "d1"]);
      expect(await ids({ runId: "r2" })).toEqual(["d2"]);
      expect(await ids({ status: ["skipped", "failed"] })).toEqual(["d3"]);
      expect(await ids({ status: [] })).toEqual([]);
      expect(await ids({ beforeNo: third?.no, limit: 1 })).toEqual(["d2"]);
      expect(await ids({ offset: 1, limit: 2 })).toEqual(["d3", "d2"]);
      expect(await one.count({ tenantId: "even", status: ["pending"] })).toBe(2);
      expect((await one.find("d3"))?.state).toEqual({ status: "skipped", endedAt: 7, reason: "no" });
    });

    test("the most overdue are due first, but none in a lane that is full and none that flies", async () => {
      const [{ deliveries: one }, { deliveries: other }] = await open();
      await one.add({ ...DELIVERY, id: "late", createdAt: 9 });
      await one.add({ ...DELIVERY, id: "early", createdAt: 8 });
      await one.add({ ...DELIVERY, id: "elsewhere", lane: "m", createdAt: 7 });
      await one.add({ ...DELIVERY, id: "tomorrow", createdAt: 101 });
      expect(await dueOf(other)).toEqual(["elsewhere", "early", "late"]);
      expect(await dueOf(other, { limit: 1 })).toEqual(["elsewhere"]);
      expect(await dueOf(other, { fullLanes: ["l", "k"] })).toEqual(["elsewhere"]);
      expect(await dueOf(other, { flying: ["early", "elsewhere"] })).toEqual(["late"]);
    });

    test("a try is recorded with what follows from it", async () => {
      const [{ deliveries: one }, { deliveries: other }] = await open();
      await one.add(DELIVERY);
      const delivery = await other.find("d");
      if (delivery === undefined) throw new Error("It is not there.");
      await one.record(delivery, made({ status: "pending", nextAt: 200 }));
      expect(await dueOf(other)).toEqual([]);
      expect(await other.find("d")).toMatchObject({ tries: 1, triesInRound: 1, state: { nextAt: 200 } });
      await one.record(delivery, made({ status: "failed", endedAt: 20, reason: "gone" }, true));
      expect(await other.readTries("d")).toEqual([
        made({ status: "pending", nextAt: 0 }).made,
        made({ status: "pending", nextAt: 0 }).made,
      ]);
      expect(await other.isClosed(DELIVERY)).toBe(true);
      expect(await other.isClosed({ ...DELIVERY, tenantId: "t" })).toBe(false);

      expect(await other.sendAgain("d", 30)).toBe(true);
      expect(await other.sendAgain("e", 30)).toBe(false);
      expect(await one.find("d")).toMatchObject({ round: 2, tries: 2, triesInRound: 0, state: { nextAt: 30 } });
      await one.record(delivery, made({ status: "failed", endedAt: 40, reason: "late" }));
      expect(await other.find("d")).toMatchObject({
        tries: 3,
        triesInRound: 0,
        state: { status: "pending", nextAt: 30 },
      });
      const again = await other.find("d");
      if (again !== undefined) await other.record(again, made({ status: "delivered", endedAt: 50 }));
      expect(await one.isClosed(DELIVERY)).toBe(false);

      await one.forgetEndedBefore(50);
      expect(await other.find("d")).toBeDefined();
      await one.forgetEndedBefore(51);
      expect(await other.find("d")).toBeUndefined();
      expect(await other.readTries("d")).toEqual([]);
    });
  });
}
