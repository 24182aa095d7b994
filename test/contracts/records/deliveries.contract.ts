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

const LEASE_MS = 2 ** 40;

const claim = (deliveries: Deliveries, wanted: Partial<DueWanted> = {}) =>
  deliveries.claimDue({ now: 100, limit: 9, perLane: 9, lanesUnderWay: [], by: "me", leaseMs: LEASE_MS, ...wanted });

/** Claims them, and gives them back. */
const dueOf = async (deliveries: Deliveries, wanted: Partial<DueWanted> = {}) => {
  const due = await claim(deliveries, wanted);
  await deliveries.release({ by: "me" });
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

    test("the most overdue are due first, as many as there is room for in their lanes", async () => {
      const [{ deliveries: one }, { deliveries: other }] = await open();
      await one.add({ ...DELIVERY, id: "late", createdAt: 9 });
      await one.add({ ...DELIVERY, id: "early", createdAt: 8 });
      await one.add({ ...DELIVERY, id: "elsewhere", lane: "m", createdAt: 7 });
      await one.add({ ...DELIVERY, id: "tomorrow", createdAt: 101 });
      expect(await dueOf(other)).toEqual(["elsewhere", "early", "late"]);
      expect(await dueOf(other, { limit: 1 })).toEqual(["elsewhere"]);
      expect(await dueOf(other, { lanesUnderWay: ["l", "k", "l"], perLane: 2 })).toEqual(["elsewhere"]);
      expect(await dueOf(other, { lanesUnderWay: ["l"], perLane: 2 })).toEqual(["elsewhere", "early"]);
    });

    test("of several who claim at once each delivery has one, until it is given back or its lease ends", async () => {
      const [{ deliveries: one }, { deliveries: other }] = await open();
      const ids = Array.from({ length: 20 }, (_, n) => `d${n}`);
      for (const id of ids) await one.add({ ...DELIVERY, id });
      const claims = await Promise.all(
        [one, other, one, other].map((each, n) => claim(each, { by: `${n}`, limit: 20, perLane: 20 })),
      );
      const left = await claim(one, { by: "last", limit: 20, perLane: 20 });
      expect(
        [...claims, left]
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(ids.sort());
      expect(await claim(one)).toEqual([]);
      const whose = (await one.find("d7"))?.claimedBy ?? "";
      const mine = (await one.list({ limit: 20 })).filter(({ claimedBy }) => claimedBy === whose).map(({ id }) => id);
      await other.release({ by: whose, except: ["d7"] });
      expect((await claim(other, { limit: 20, perLane: 20 })).length).toBe(mine.length - 1);
      await one.release({ by: "all" });
      expect(await claim(one, { limit: 20, perLane: 20, leaseMs: -1 })).toHaveLength(20);
      expect(await claim(other, { by: "other", limit: 1 })).toMatchObject([{ claimedBy: "other" }]);
    });

    test("a record ends the claim, and one that comes after another has claimed it changes nothing", async () => {
      const [{ deliveries: one }, { deliveries: other }] = await open();
      await one.add(DELIVERY);
      const [late] = await claim(one, { by: "late", leaseMs: -1 });
      const [delivery] = await claim(other, { by: "other" });
      if (late === undefined || delivery === undefined) throw new Error("It was due.");
      await one.record(late, made({ status: "failed", endedAt: 11, reason: "no" }));
      expect(await one.find("d")).toMatchObject({ tries: 1, state: { status: "pending" }, claimedBy: "other" });
      await other.sendAgain("d", 50);
      expect(await claim(one)).toEqual([]);
      await other.record(delivery, made({ status: "delivered", endedAt: 12 }));
      expect(await one.find("d")).toMatchObject({ tries: 2, round: 2, state: { status: "pending", nextAt: 50 } });
      const [again] = await claim(one);
      if (again === undefined) throw new Error("It was to be sent again.");
      await one.skip(again, { at: 60, reason: "gone" });
      const ended = await other.find("d");
      expect(ended).toMatchObject({ state: { status: "skipped" } });
      expect(ended?.claimedBy).toBeUndefined();
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
