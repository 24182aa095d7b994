import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

test("a map forgets what was set longest ago, and setting a key again makes it the newest", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2).set("a", 3).set("c", 4);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});
