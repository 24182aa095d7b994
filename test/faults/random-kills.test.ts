import { expect, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { openOwner, readEffects } from "./data-directory.ts";
import { killAtRandom } from "./random-kills.ts";
import { readEnd } from "./run-end.ts";
import { startChild } from "./start-child.ts";
import { succeed } from "./world.ts";

test("runs whose process is killed at any moment end as if nothing had happened", async () => {
  await killAtRandom(
    temporaryFolder(),
    Array.from({ length: 3 }, (_, seed) => seed),
  );
  // Each seed is two processes that are killed, one that goes on, and all that they did is compared.
});

test("the run of a step that takes its process down is held, goes on when it is resumed, and keeps no other run back", async () => {
  const dataDir = temporaryFolder();
  const runs = ["killer-1", "run-1"];
  let deaths = 0;
  let ended = await startChild(dataDir, { runs }).ended;
  for (; ended.wasKilled && deaths < 20; deaths += 1) ended = await startChild(dataDir, { runs }).ended;
  expect(ended).toMatchObject({ wasKilled: false, statuses: ["waiting", "partial"] });
  expect(readEffects(dataDir).filter(({ path }) => path === "killer")).toHaveLength(deaths);

  const owner = openOwner(dataDir, { host: { findExecutor: async () => harmless } });
  await owner.host.recover();
  const held = await owner.host.settled("killer-1");
  expect(held).toMatchObject({ status: "waiting", error: { code: "POISON" } });
  await owner.host.request("killer-1", { type: "resume", releases: true });
  expect(await owner.host.settled("killer-1")).toMatchObject({ status: "completed", error: undefined });
  expect(await readEnd(owner, dataDir, "run-1")).toMatchObject({ status: "partial" });
  await owner.close();
  // Half a dozen processes, one after the other, with pauses of a few seconds between them.
});

const harmless = { recordsInput: false, run: async () => succeed("mended") };
