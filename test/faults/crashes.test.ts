import { expect, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { findCulprit, killFanOut, killLongStep } from "./crashes/deaths.ts";
import { drive } from "./crashes/drive.ts";

test("a fan-out of 60 completes with each item recorded once, though its process is killed ten times", async () => {
  await killFanOut(temporaryFolder(), 1);
  // Eleven processes, one after the other.
});

test("a step of an hour completes, however often its process is killed later than a minute after each start", async () => {
  await killLongStep(temporaryFolder(), 8);
  // Nine processes, one after the other.
});

test("30 runs whose process is killed twice take at most 1.5 times as long as undisturbed", async () => {
  const runs = { runs: 30, items: 1, steps: 12, ms: 800 };
  const [undisturbed, killed] = [temporaryFolder(), temporaryFolder()];
  const began = performance.now();
  await drive(undisturbed, runs);
  const between = performance.now();
  const { deaths, ends } = await drive(killed, runs, (n) => (n < 2 ? 1_400 : undefined));
  const ratio = (performance.now() - between) / (between - began);
  expect({ deaths, ends: new Set(ends) }).toEqual({ deaths: 2, ends: new Set(["completed"]) });
  expect(ratio).toBeLessThan(1.5);
  // Ten seconds of work, twice.
});

test("the one among 30 that takes the process down is found, its run is held and all others complete", async () => {
  const deaths = await findCulprit(temporaryFolder(), { runs: 1, items: 30, culprit: { run: 0, item: 17 } });
  // Three at full width, three halvings to four at a time, and twice alone.
  expect(deaths).toBeLessThanOrEqual(8);
});
