import { expect, test } from "vitest";
import { EventRing } from "./event-ring.ts";

test("a reader gets what is behind its place, a page at a time", () => {
  const ring = new EventRing<string>(10);
  for (const entry of ["a", "b", "c"]) ring.add(entry);
  expect(ring.read(0, 2)).toEqual({ entries: ["a", "b"], next: 2, missed: 0 });
  expect(ring.read(2, 2)).toEqual({ entries: ["c"], next: 3, missed: 0 });
  expect(ring.read(3, 2)).toEqual({ entries: [], next: 3, missed: 0 });
});

test("a reader that is too slow learns how much it has missed, and nothing more is kept for it", () => {
  const ring = new EventRing<number>(4);
  for (let n = 1; n <= 1_001; n += 1) ring.add(n);
  expect(ring.read(990, 100)).toEqual({ entries: [998, 999, 1_000, 1_001], next: 1_001, missed: 7 });
});

test("a reader waits for the next entry, or until it is told to stop", async () => {
  const ring = new EventRing<number>(4);
  const stop = new AbortController();
  const told = ring.next(0, stop.signal);
  ring.add(1);
  await told;
  await ring.next(0, stop.signal);
  const stopped = ring.next(1, stop.signal);
  stop.abort();
  await stopped;
});
