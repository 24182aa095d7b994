import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { ChurnMap } from "./churn-map.ts";

test("it holds what was set last and not deleted, in that order", () => {
  const map = new ChurnMap<number, string>();
  for (let key = 0; key < 1_000; key += 1) {
    map.set(key, `${key}`);
    if (key >= 3) expect(map.delete(key - 3)).toBe(true);
  }
  map.set(998, "again");

  expect(map.delete(3)).toBe(false);
  expect([...map.keys()]).toEqual([997, 998, 999]);
  expect([...map.values()]).toEqual(["997", "again", "999"]);
  expect({ size: map.size, has: map.has(997), gone: map.has(996) }).toEqual({ size: 3, has: true, gone: false });
  expect([map.get(998), map.get(3)]).toEqual(["again", undefined]);
});

test("what has left it is collected with the young", () => {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as (options?: { readonly type: "minor" }) => void;
  const map = new ChurnMap<number, unknown>();
  const pass = (from: number, count: number) => {
    for (let key = from; key < from + count; key += 1) {
      map.set(
        key,
        Array.from({ length: 100 }, (_, n) => ({ n })),
      );
      map.delete(key - 10);
    }
  };
  pass(0, 100);
  // Its table grows old.
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let from = 100; from < 10_100; from += 200) {
    pass(from, 200);
    collect({ type: "minor" });
  }

  // 10,000 entries of 2 KB have passed. A `Map` keeps all of them.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(8_000_000);
});
