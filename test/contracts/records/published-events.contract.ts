import { describe, expect, test } from "vitest";
import type { EventWait, NewEvent } from "../../../src/ports/service/published-events.ts";
import type { RecordsUnderTest } from "./records-under-test.ts";

const KEY = '{"order_id":7}';
const EVENT: NewEvent = {
  ...{ id: "e", name: "paid", keys: [KEY], payload: { order_id: 7, sum: 5 } },
  ...{ at: 10, expiresAt: 100, most: 3 },
};
const WAIT: EventWait = {
  ...{ runId: "r", path: "wait", attempt: 1, name: "paid", key: KEY },
  ...{ fields: ["order_id"], since: 20 },
};
const CLAIM = { runId: "r", path: "wait", attempt: 1, key: KEY };

export function describePublishedEventsContract({ name, open }: RecordsUnderTest): void {
  describe(`${name}: published events`, () => {
    test("an event that comes before its wait is claimed by it, once", async () => {
      const [{ events: one }, { events: other }] = await open();
      expect([await one.add(EVENT), await other.add(EVENT)]).toEqual([true, false]);
      await one.keep("e");
      expect(await other.register({ ...WAIT, key: '{"order_id":8}', path: "another" })).toBeUndefined();
      expect(await other.register({ ...WAIT, tenantId: "t", path: "a tenant's" })).toBeUndefined();
      expect(await other.register({ ...WAIT, name: "refunded", path: "of another name" })).toBeUndefined();
      expect(await other.register(WAIT)).toMatchObject({ id: "e", payload: { order_id: 7, sum: 5 } });
      expect(await one.find("e")).toMatchObject({ state: "claimed", claim: CLAIM });
      expect(await one.register({ ...WAIT, runId: "second" })).toBeUndefined();
      // Its process has died: it begins again, and has what it had claimed.
      expect(await other.register({ ...WAIT, attempt: 2 })).toMatchObject({ id: "e", claim: CLAIM });
    });

    test("an event finds the oldest wait, and is another's when that is over", async () => {
      const [{ events: one }, { events: other }] = await open();
      await one.register({ ...WAIT, runId: "younger", since: 30 });
      await other.register(WAIT);
      await one.add({ ...EVENT, keys: ['{"order_id":8}', KEY] });
      expect(await one.findWait(EVENT)).toMatchObject({ runId: "r", fields: ["order_id"], key: KEY });
      expect([await one.claim("e", WAIT, 40), await other.claim("e", WAIT, 40)]).toEqual([true, false]);
      await one.giveBack("e", WAIT, 50);
      expect(await other.find("e")).toMatchObject({ state: "open" });
      expect(await other.findWait(EVENT)).toMatchObject({ runId: "younger" });
      await one.unregister({ ...WAIT, runId: "younger", attempt: 2 });
      expect(await other.findWait(EVENT)).toMatchObject({ runId: "younger" });
      await one.unregister({ ...WAIT, runId: "younger" });
      expect(await other.findWait(EVENT)).toBeUndefined();
    });

    test("two that claim at the same moment do not both have it", async () => {
      const [{ events: one }, { events: other }] = await open();
      await one.add(EVENT);
      const waits = Array.from({ length: 10 }, (_, n) => ({ ...WAIT, runId: `r${n}` }));
      const claimed = await Promise.all(waits.map((wait, n) => (n % 2 === 0 ? one : other).register(wait)));
      expect(claimed.filter((event) => event !== undefined)).toHaveLength(1);
    });

    test("what has arrived is remembered, and what nobody waited for in time is gone, as are waits that are over", async () => {
      const [{ events: one }, { events: other }] = await open();
      await one.add(EVENT);
      await one.add({ ...EVENT, id: "late" });
      await one.settle("e", 50);
      await other.register({ ...WAIT, name: "other", expiresAt: 99 });
      await other.forget(100);
      expect(await one.find("e")).toMatchObject({ state: "done", payload: {} });
      expect(await one.add(EVENT)).toBe(false);
      expect(await one.find("late")).toBeUndefined();
      expect(await one.listFields({ name: "other" })).toEqual([]);
      expect(await one.claim("late", WAIT, 50)).toBe(false);
    });

    test("an event whose time is over is not claimed, even while it is there", async () => {
      const [{ events: one }] = await open();
      await one.add(EVENT);
      expect(await one.register({ ...WAIT, since: 100 })).toBeUndefined();
      expect(await one.claim("e", WAIT, 100)).toBe(false);
    });

    test("so many are kept of a tenant, and what has begun long ago and is not over is found", async () => {
      const [{ events: one }, { events: other }] = await open();
      for (const id of ["a", "b", "c"]) await one.add({ ...EVENT, id, tenantId: "t" });
      await expect(other.add({ ...EVENT, id: "d", tenantId: "t" })).rejects.toMatchObject({ code: "EVENTS_FULL" });
      expect(await other.add({ ...EVENT, id: "c", tenantId: "t" })).toBe(false);
      expect(await other.add({ ...EVENT, id: "d" })).toBe(true);
      await one.keep("a");
      await one.claim("b", WAIT, 15);
      await one.settle("c", 15);
      expect(await other.listUnsettled(11, 9)).toMatchObject([{ id: "d", state: "open" }]);
      expect((await other.listUnsettled(16, 9)).map(({ id, tenantId }) => [id, tenantId])).toEqual([
        ["d", undefined],
        ["b", "t"],
      ]);
    });

    test("the ways in which an event is waited for are listed once each", async () => {
      const [{ events: one }, { events: other }] = await open();
      for (const [n, fields] of [["b.c"], ["a", "b"], ["b.c"]].entries())
        await one.register({ ...WAIT, path: String(n), fields });
      await one.register({ ...WAIT, path: "t", tenantId: "t", fields: ["z"] });
      expect(await other.listFields({ name: "paid" })).toEqual([["a", "b"], ["b.c"]]);
    });
  });
}
