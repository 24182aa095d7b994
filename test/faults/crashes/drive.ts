import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Event } from "../../../src/core/history/events.ts";
import { COMPILE_CACHE } from "../../fakes/compile-cache.ts";
import { openOwner } from "../data-directory.ts";
import type { CrashRuns } from "./crash-runs.ts";

const CHILD = fileURLToPath(new URL("./crash-child.ts", import.meta.url));
const MAX_PROCESSES = 150;

export interface Driven {
  readonly deaths: number;
  /** How each run rests: `held`, or its status. */
  readonly ends: readonly string[];
}

/** Lets processes work until the runs rest. `killAfter`: how many milliseconds after work begins the process of this number is killed. */
export async function drive(
  dataDir: string,
  runs: CrashRuns,
  killAfter: (process: number) => number | undefined = () => undefined,
): Promise<Driven> {
  let seenAt = "";
  for (let deaths = 0; deaths < MAX_PROCESSES; deaths += 1) {
    const ends = await driveOnce(dataDir, runs, { seenAt, killAfterMs: killAfter(deaths) });
    if (ends !== undefined) return { deaths, ends };
    seenAt = String(Date.now());
  }
  throw new Error("The runs do not rest.");
}

/** Undefined: the process was killed. */
async function driveOnce(
  dataDir: string,
  runs: CrashRuns,
  { seenAt, killAfterMs }: { readonly seenAt: string; readonly killAfterMs: number | undefined },
): Promise<readonly string[] | undefined> {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [CHILD, dataDir, JSON.stringify(runs), seenAt], {
    env: { ...inherited, ...COMPILE_CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (killAfterMs !== undefined) {
    child.stdout.once("data", (said: Buffer) => {
      if (said.toString().startsWith("working")) setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    });
  }
  const [said, complaints] = [readAll(child.stdout), readAll(child.stderr)];
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal === "SIGKILL") return undefined;
  if (code !== 0) throw new Error(`The process ended with ${code}: ${await complaints}`);
  const last = (await said).trimEnd().split("\n").at(-1) ?? "";
  return (JSON.parse(last) as { ends: string[] }).ends;
}

export async function readEvents(dataDir: string, runId: string): Promise<readonly Event[]> {
  const owner = openOwner(dataDir, { durability: "process" });
  try {
    const record = await owner.journal.findRun(runId);
    if (record === undefined || record === "ambiguous") throw new Error(`There is no run ${runId}.`);
    return (await owner.journal.readEvents(record.no, { afterSeq: 0, limit: 1_000_000 })).map(({ event }) => event);
  } finally {
    await owner.close();
  }
}
