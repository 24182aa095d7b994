import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { COMPILE_CACHE } from "../fakes/compile-cache.ts";

const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));

interface Ended {
  readonly wasKilled: boolean;
  readonly commits: number;
  readonly statuses: readonly string[];
}

export interface RunningChild {
  readonly pid: number | undefined;
  kill(): void;
  /** Its runs have ended. */
  readonly said: Promise<unknown>;
  /** Rejects where it ended neither well nor by a signal, with what it complained about. */
  readonly ended: Promise<Ended>;
}

export interface ChildOptions {
  readonly runs?: readonly string[];
  readonly crashAt?: string;
  readonly oneEvent?: boolean;
  /** Where a copy of the data directory is left at every commit, before and after it. */
  readonly copies?: string;
  readonly hold?: boolean;
}

export function startChild(
  dataDir: string,
  { runs = ["run-1"], crashAt, oneEvent = false, copies, hold = false }: ChildOptions,
): RunningChild {
  const args = [
    CHILD,
    "--runs",
    runs.join(","),
    ...(oneEvent ? ["--one-event"] : []),
    ...(copies === undefined ? [] : ["--copies", copies]),
    ...(hold ? ["--hold"] : []),
    dataDir,
  ];
  // Reading certificates takes longer than everything else in a small process.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, ...COMPILE_CACHE, ...(crashAt === undefined ? {} : { PAWL_CRASH_AT: crashAt }) };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const said = once(child.stdout, "data");
  said.catch(() => undefined);
  const everything = readAll(child.stdout);
  const complaints = readAll(child.stderr);
  const ended = once(child, "close").then(async ([code, signal]): Promise<Ended> => {
    if (signal === "SIGKILL") return { wasKilled: true, commits: 0, statuses: [] };
    if (code !== 0) throw new Error(`The child ended with ${code}: ${await complaints}`);
    return { wasKilled: false, ...(JSON.parse(await everything) as { commits: number; statuses: string[] }) };
  });
  return { pid: child.pid, kill: () => void child.kill("SIGKILL"), said, ended };
}
