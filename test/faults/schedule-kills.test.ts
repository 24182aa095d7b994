import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import type { StoredSchedule } from "../../src/ports/service/schedules.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { fireOnce, SLOT_CRASHES, type SlotCrash } from "./fire-once.ts";

const CHILD = fileURLToPath(new URL("./schedule-child.ts", import.meta.url));
const SLOT = Date.UTC(2026, 5, 1, 8);

/** Nothing is caught up: what is not lost has been claimed. */
const SCHEDULE: StoredSchedule = {
  id: "hourly",
  workflow: "child",
  cron: "0 * * * *",
  timezone: "UTC",
  input: { from: "a schedule" },
  enabled: true,
  overlap: "skip",
  catchUp: "none",
  jitterSeconds: 0,
  source: "api",
  nextFireAt: SLOT,
  dueAt: SLOT,
  version: 1,
  createdAt: 0,
  updatedAt: 0,
};

async function dieIn(dataDir: string, crashAt: SlotCrash): Promise<unknown> {
  // Reading certificates takes longer than everything else in a small process.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, PAWL_CRASH_AT: crashAt };
  const child = spawn(process.execPath, [CHILD, dataDir, String(SLOT + 1_000)], { env, stdio: "inherit" });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const [, signal] = (await once(child, "exit")) as [unknown, unknown];
  return signal;
}

test("a server that is killed at any point of firing a slot leaves one run of it, whenever the next one starts", async () => {
  const folder = temporaryFolder();
  await Promise.all(
    SLOT_CRASHES.map(async (crashAt) => {
      const dataDir = join(folder, crashAt.replace(":", "-"));
      mkdirSync(dataDir);
      const service = openServiceRecords({ path: join(dataDir, "service.db"), durability: "process" });
      await service.schedules.add(SCHEDULE);
      await service.close();
      expect(await dieIn(dataDir, crashAt), crashAt).toBe("SIGKILL");

      // Before the claim nobody has promised anything: then the next server must come within a minute.
      const isClaimed = crashAt !== "claim:before";
      const fired = await fireOnce(dataDir, { now: SLOT + (isClaimed ? 1_800_000 : 50_000) });
      expect(fired, crashAt).toMatchObject({
        runs: 1,
        slots: [{ slot: SLOT, outcome: { state: "started", runId: expect.any(String) } }],
      });
    }),
  );
  // A process for each point at which one can die.
});
