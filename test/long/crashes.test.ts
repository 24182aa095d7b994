import { expect, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { findCulprit, killFanOut, killLongStep } from "../faults/crashes/deaths.ts";

test.each([2, 3, 4, 5, 6])(
  "a fan-out of 60 completes under ten kills, each item recorded once: seed %i",
  async (seed) => {
    await killFanOut(temporaryFolder(), seed);
  },
);

test("a step of an hour completes under 100 kills", async () => {
  await killLongStep(temporaryFolder(), 100);
});

test.each([0, 123, 249, 250, 499])(
  "the culprit among 500 items is found in 12 deaths at most: item %i",
  async (item) => {
    const deaths = await findCulprit(temporaryFolder(), { runs: 1, items: 500, culprit: { run: 0, item } });
    expect(deaths).toBeLessThanOrEqual(12);
  },
);

test.each([3, 321])("the culprit among 500 runs is found in 12 deaths at most: run %i", async (run) => {
  const deaths = await findCulprit(temporaryFolder(), { runs: 500, items: 1, culprit: { run, item: 0 } });
  expect(deaths).toBeLessThanOrEqual(12);
});
