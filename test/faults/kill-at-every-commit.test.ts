import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { driveAll, openOwner } from "./data-directory.ts";
import { type RunEnd, readEnd } from "./run-end.ts";
import { startChild } from "./start-child.ts";

const RUN = "run-1";
/** Starting a process is what takes the time: so many at once, and only some are taken up by a process again. */
const AT_ONCE = 3;
const SECOND_PROCESS_EVERY = 12;

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

test("a run that is killed at any commit, before or after it, ends as if nothing had happened", async () => {
  const folder = temporaryFolder();
  const newDirectory = (name: string) => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const undisturbed = newDirectory("undisturbed");
  const { commits } = await startChild(undisturbed, { oneEvent: true }).ended;
  const expected = await goOnHere(undisturbed);
  expect(commits).toBeGreaterThan(50);
  expect(expected).toMatchObject({
    status: "partial",
    outbox: [expect.stringMatching(/^webhook/), expect.stringMatching(/^dead_letter/)],
  });

  const points = Array.from({ length: commits }, (_, index) => [`${index + 1}:before`, `${index + 1}:after`]).flat();
  const wrong: unknown[] = [];
  let killed = 0;
  const work = points.entries();
  const worker = async () => {
    for (const [index, crashAt] of work) {
      const dataDir = newDirectory(crashAt.replace(":", "-"));
      const { wasKilled } = await startChild(dataDir, { oneEvent: true, crashAt }).ended;
      if (wasKilled) killed += 1;
      const goOn = index % SECOND_PROCESS_EVERY === 0 ? goOnInAnotherProcess : goOnHere;
      try {
        expect(await goOn(dataDir)).toEqual(expected);
      } catch (error) {
        wrong.push(`${crashAt}: ${String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));

  expect(wrong).toEqual([]);
  // Timers are real: a run may need a few commits less than the first one did.
  expect(killed).toBeGreaterThan(points.length * 0.9);
}, 240_000);
