import { expect, test } from "vitest";
import { computeRestartDelayMs } from "./managed-server.ts";

test("a server comes back at once, then ever more slowly, up to half a minute", () => {
  const delays = [1, 2, 3, 4, 9, 10, 1_000].map((failures) => computeRestartDelayMs(failures, 0));
  expect(delays).toEqual([0, 250, 500, 1_000, 30_000, 30_000, 30_000]);
});

test("chance takes up to half of it off", () => {
  expect(computeRestartDelayMs(10, 0.999999)).toBe(15_000);
});
