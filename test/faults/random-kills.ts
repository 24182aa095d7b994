import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { Random } from "../simulation/random.ts";
import { driveAll, openOwner } from "./data-directory.ts";
import { type RunEnd, readEnd } from "./run-end.ts";
import { startChild } from "./start-child.ts";

const RUNS = ["run-a", "run-b", "run-c", "run-d"];
const MAX_KILLS = 4;
const AT_ONCE = 2;

/** Kills a process with several runs at random moments, from outside and under group commit, once for each seed. */
export async function killAtRandom(folder: string, seeds: readonly number[]): Promise<void> {
  const undisturbed = newDirectory(folder, "undisturbed");
  const began = performance.now();
  await startChild(undisturbed, { runs: RUNS }).ended;
  const tookMs = performance.now() - began;
  const expected = await goOn(undisturbed);
  let kills = 0;
  const work = seeds.values();
  const worker = async () => {
    for (const seed of work) {
      const dataDir = newDirectory(folder, `seed-${seed}`);
      kills += await killSome(dataDir, seed, tookMs);
      expect({ seed, ends: await goOn(dataDir) }).toEqual({ seed, ends: expected });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(kills).toBeGreaterThan(seeds.length / 2);
}

function newDirectory(folder: string, name: string): string {
  mkdirSync(join(folder, name));
  return join(folder, name);
}

async function killSome(dataDir: string, seed: number, tookMs: number): Promise<number> {
  const random = new Random(seed);
  let kills = 0;
  for (let round = 0; round < MAX_KILLS; round += 1) {
    const child = startChild(dataDir, { runs: RUNS });
    const isOver = new AbortController();
    const killing = setTimeout(tookMs * (0.3 + 0.7 * random.share()), undefined, { signal: isOver.signal }).then(
      () => child.kill(),
      () => undefined,
    );
    const { wasKilled } = await child.ended;
    isOver.abort();
    await killing;
    if (wasKilled) kills += 1;
  }
  return kills;
}

async function goOn(dataDir: string): Promise<readonly RunEnd[]> {
  const owner = openOwner(dataDir, { durability: "process" });
  try {
    await driveAll(owner, RUNS);
    expect(owner.defects).toEqual([]);
    return await Promise.all(RUNS.map((runId) => readEnd(owner, dataDir, runId)));
  } finally {
    await owner.close();
  }
}
