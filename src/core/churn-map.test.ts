import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { ChurnMap, ChurnSet } from "./churn-map.ts";

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

test("a set holds what was added last and not deleted, once", () => {
  const set = new ChurnSet<number>();
  for (let item = 0; item < 1_000; item += 1) {
    set.add(item);
    set.add(item);
    if (item >= 3) expect(set.delete(item - 3)).toBe(true);
  }

  expect([...set]).toEqual([997, 998, 999]);
  expect({ size: set.size, has: set.has(997), gone: set.has(996) }).toEqual({ size: 3, has: true, gone: false });
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
