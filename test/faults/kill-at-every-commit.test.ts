import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { rounds } from "../properties/rounds.ts";
import { driveAll, openOwner } from "./data-directory.ts";
import { type RunEnd, readEnd } from "./run-end.ts";
import { startChild } from "./start-child.ts";

const RUN = "run-1";
/** Starting a process is what takes the time: so many at once, and only some of the deaths are real. `npm test` goes on from a fifth of the copies. */
const AT_ONCE = 3;
const KILL_EVERY = Math.ceil(96 / rounds(1));
const GO_ON_EVERY = Math.ceil(5 / rounds(1));

async function goOnHere(dataDir: string): Promise<RunEnd> {
  const owner = openOwner(dataDir, { durability: "process" });
  try {
    await driveAll(owner, [RUN]);
    expect(owner.defects).toEqual([]);
    return await readEnd(owner, dataDir, RUN);
  } finally {
    await owner.close();
  }
}

async function goOnInAnotherProcess(dataDir: string): Promise<RunEnd> {
  expect((await startChild(dataDir, {}).ended).wasKilled).toBe(false);
  return goOnHere(dataDir);
}

function newDirectory(...path: string[]): string {
  mkdirSync(join(...path));
  return join(...path);
}

test("a run that is killed at any commit, before or after it, ends as if nothing had happened", async () => {
  const folder = temporaryFolder();
  const [undisturbed, copies] = [newDirectory(folder, "undisturbed"), newDirectory(folder, "copies")];
  const { commits } = await startChild(undisturbed, { oneEvent: true, copies }).ended;
  const expected = await goOnHere(undisturbed);
  expect(commits).toBeGreaterThan(50);
  expect(expected).toMatchObject({
    status: "partial",
    outbox: [expect.stringMatching(/^webhook/), expect.stringMatching(/^dead_letter/)],
  });

  const wrong: unknown[] = [];
  const expectEnd = async (name: string, end: Promise<RunEnd>) => {
    try {
      expect(await end).toEqual(expected);
    } catch (error) {
      wrong.push(`${name}: ${String(error)}`);
    }
  };

  // What each death would have left.
  const left = readdirSync(copies);
  expect(left).toHaveLength(commits * 2);
  for (const name of left.filter((_, index) => index % GO_ON_EVERY === 0))
    await expectEnd(`a copy from ${name}`, goOnHere(join(copies, name)));

  // And deaths.
  const points = Array.from({ length: commits }, (_, index) => [`${index + 1}:before`, `${index + 1}:after`]).flat();
  const deaths = points.filter((_, index) => index % KILL_EVERY === 0);
  const work = deaths.values();
  let killed = 0;
  const worker = async () => {
    for (const crashAt of work) {
      const dataDir = newDirectory(folder, crashAt.replace(":", "-"));
      const { wasKilled } = await startChild(dataDir, { oneEvent: true, crashAt }).ended;
      if (wasKilled) killed += 1;
      await expectEnd(crashAt, goOnInAnotherProcess(dataDir));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));

  expect(wrong).toEqual([]);
  // Timers are real: a run may need a few commits less than the first one did.
  expect(killed).toBeGreaterThan(deaths.length * 0.8);
  // Each death is a process of its own, and every copy is driven to its end.
});
