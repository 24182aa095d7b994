import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Event } from "../../../src/core/history/events.ts";
import { Random } from "../../simulation/random.ts";
import { readApplicationFile } from "./every-step-process.ts";
import { JournalView } from "./journal-view.ts";
import { readEnd } from "./read-end.ts";
import { type KillPoint, runWithKills } from "./run-with-kills.ts";

const MAX_DELAY_MS = 60;

/** Kills a workflow of every kind of step at drawn events, so often for each seed, and compares its end with that of one left alone. */
export async function killEveryStep(folder: string, seeds: readonly number[], killsEach: number): Promise<void> {
  const undisturbed = newDirectory(folder, "undisturbed");
  expect(await runWithKills(undisturbed, [])).toEqual([]);
  const expected = await readEnd(undisturbed, []);
  expect(expected).toMatchObject({ status: "completed", outputs: JSON.parse(readApplicationFile("output.json")) });
  const story = await readStory(undisturbed);
  let deaths = 0;
  for (const seed of seeds) {
    const dataDir = newDirectory(folder, `seed-${seed}`);
    const died = await runWithKills(dataDir, drawPoints(story, new Random(seed), killsEach));
    deaths += died.length;
    expect({ seed, ...(await readEnd(dataDir, died)) }).toEqual({ seed, ...expected });
  }
  expect(deaths).toBeGreaterThanOrEqual(seeds.length * killsEach * 0.8);
}

function newDirectory(folder: string, name: string): string {
  mkdirSync(join(folder, name));
  return join(folder, name);
}

async function readStory(dataDir: string): Promise<readonly string[]> {
  const view = new JournalView(dataDir);
  const events = await view.events();
  await view.close();
  return events.flatMap((event) => (event.type === "runFinished" ? [] : [nameOf(event)]));
}

/** Events of the undisturbed run, the model's first turn among them; the process dies once such an event, or a later one, is there. */
function drawPoints(story: readonly string[], random: Random, count: number): readonly KillPoint[] {
  const drawn = new Set([story.indexOf("stepRecorded compose#1 turn-1")]);
  while (drawn.size < count) drawn.add(random.int(1, story.length - 1));
  const places = new Map(story.map((name, index) => [name, index]));
  return [...drawn]
    .sort((a, b) => a - b)
    .map((wanted) => ({
      thenMs: random.chance(0.3) ? 0 : random.int(0, MAX_DELAY_MS),
      hasCome: (events) => events.some((event) => (places.get(nameOf(event)) ?? -1) >= wanted),
    }));
}

function nameOf(event: Event): string {
  const path = "path" in event ? ` ${event.path}` : "";
  return `${event.type}${path}${event.type === "stepRecorded" ? ` ${event.key}` : ""}`;
}
