import { expect, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { driveAll, openOwner, readEffects } from "./data-directory.ts";
import { killAtRandom } from "./random-kills.ts";
import { readEnd } from "./run-end.ts";
import { startChild } from "./start-child.ts";

test("runs whose process is killed at any moment end as if nothing had happened", async () => {
  await killAtRandom(
    temporaryFolder(),
    Array.from({ length: 3 }, (_, seed) => seed),
  );
  // Each seed is two processes that are killed, one that goes on, and all that they did is compared.
}, 120_000);

test("a step that takes its process down three times is POISON, and its run and the others go on", async () => {
  const dataDir = temporaryFolder();
  const runs = ["killer-1", "run-1"];
  for (let crash = 1; crash <= 3; crash += 1)
    expect(await startChild(dataDir, { runs }).ended).toMatchObject({ wasKilled: true });

  expect(await startChild(dataDir, { runs }).ended).toMatchObject({
    wasKilled: false,
    statuses: ["partial", "partial"],
  });
  expect(readEffects(dataDir).filter(({ path }) => path === "killer")).toHaveLength(3);

  const owner = openOwner(dataDir);
  await driveAll(owner, runs);
  const record = await owner.journal.findRun("killer-1");
  if (record === undefined || record === "ambiguous") throw new Error("The run is gone.");
  const events = await owner.journal.readEvents(record.no, { afterSeq: 0, limit: 100 });
  expect(events.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: "stepSucceeded", path: "behind" }),
  );
  expect(await readEnd(owner, dataDir, "run-1")).toMatchObject({ status: "partial" });
  await owner.close();
  // Four processes, one after the other.
}, 60_000);
