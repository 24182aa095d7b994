import { describe, expect, test } from "vitest";
import type { RecordsUnderTest } from "./records-under-test.ts";

const WISH = { key: "k", limit: 2, perMs: 100, waits: true };

export function describeStartRatesContract({ name, open }: RecordsUnderTest): void {
  describe(`slots of runs in ${name}`, () => {
    test("are so many within the time, also where several processes take them at once", async () => {
      const [{ rates: one }, { rates: other }] = await open();
      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? one : other).take(WISH, 1_000)),
      );
      const times = taken.map((slot) => slot?.startsAt).toSorted();
      expect(times).toEqual([1_000, 1_000, 1_100, 1_100, 1_200, 1_200, 1_300, 1_300, 1_400, 1_400]);
      expect(await one.take({ ...WISH, key: "l" }, 1_000)).toEqual({ key: "l", slot: 1_000, startsAt: 1_000 });
      expect(await other.take({ ...WISH, waits: false }, 1_499)).toBeUndefined();
      expect(await other.take({ ...WISH, waits: false }, 1_500)).toMatchObject({ startsAt: 1_500 });
    });

    test("move all together when one is late, and keep their distance", async () => {
      const [{ rates: one }, { rates: other }] = await open();
      const slots: number[] = [];
      for (let n = 0; n < 5; n += 1) slots.push((await one.take(WISH, 0))?.slot ?? 0);
      expect(slots).toEqual([0, 0, 100, 100, 200]);
      const pass = (slot: number, now: number) => other.pass({ key: "k", slot }, now);
      expect(await pass(100, 90)).toBe(100);
      expect(await pass(100, 5_000)).toBeUndefined();
      expect(await pass(100, 5_000)).toBeUndefined();
      expect(await pass(200, 5_000)).toBe(5_100);
      expect(await one.take(WISH, 5_000)).toEqual({ key: "k", slot: 200, startsAt: 5_100 });
      expect(await one.take(WISH, 5_000)).toEqual({ key: "k", slot: 300, startsAt: 5_200 });
    });

    test("of a lower limit are counted with those of a higher one", async () => {
      const [{ rates }] = await open();
      for (let n = 0; n < 3; n += 1) expect(await rates.take({ ...WISH, limit: 3 }, 0)).toMatchObject({ startsAt: 0 });
      expect(await rates.take({ ...WISH, limit: 1 }, 0)).toMatchObject({ startsAt: 100 });
      expect(await rates.take({ ...WISH, limit: 3 }, 0)).toMatchObject({ startsAt: 100 });
    });
  });
}
