import { expect } from "vitest";
import { Random } from "../../simulation/random.ts";
import { drive, readEvents } from "./drive.ts";

/** A fan-out of 60 whose process is killed ten times while it works. */
export async function killFanOut(dataDir: string, seed: number): Promise<void> {
  const random = new Random(seed);
  const runs = { items: 60, ms: 6_000, timesFaster: 10 };
  const { deaths, ends } = await drive(dataDir, runs, (n) => (n < 10 ? random.int(0, 150) : undefined));
  expect({ deaths, ends }).toEqual({ deaths: 10, ends: ["completed"] });
  const done = (await readEvents(dataDir, "run-0")).flatMap((event) =>
    event.type === "stepSucceeded" ? [event.path] : [],
  );
  expect([done.length, new Set(done).size]).toEqual([60, 60]);
}

/** A step of an hour whose process is killed so often, more than a minute after each start. */
export async function killLongStep(dataDir: string, kills: number): Promise<void> {
  const runs = { items: 1, ms: 3_600_000, timesFaster: 1_200 };
  const { deaths, ends } = await drive(dataDir, runs, (n) => (n < kills ? 60 : undefined));
  expect({ deaths, ends }).toEqual({ deaths: kills, ends: ["completed"] });
}

export interface CulpritAmong {
  readonly runs: number;
  readonly items: number;
  readonly culprit: { readonly run: number; readonly item: number };
}

/** One step takes the process down whenever it is tried; all others complete, and its run is held. */
export async function findCulprit(dataDir: string, { runs, items, culprit }: CulpritAmong): Promise<number> {
  const plan = { runs, items, ms: 5_000, timesFaster: 20, culprit: { ...culprit, ms: 2_000 } };
  const { deaths, ends } = await drive(dataDir, plan);
  const expected = Array.from({ length: runs }, (_, run) => (run === culprit.run ? "held" : "completed"));
  expect(ends).toEqual(expected);
  const events = await readEvents(dataDir, `run-${culprit.run}`);
  const done = events.filter(({ type }) => type === "stepSucceeded");
  expect(done).toHaveLength(items - 1);
  expect(events.some(({ type }) => type === "stepFailed")).toBe(false);
  return deaths;
}
