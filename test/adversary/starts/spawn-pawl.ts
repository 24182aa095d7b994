import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { COMPILE_CACHE } from "../../fakes/compile-cache.ts";

/** CI names the program as it is built. */
const MAIN = process.env["PAWL_TEST_PROGRAM"] ?? fileURLToPath(new URL("../../../src/main.ts", import.meta.url));
const MARK = "PAWL_ADVERSARY_START";

export interface SpawnedPawl {
  readonly child: ChildProcess;
  /** In the environment of the process and of all that it has started. */
  readonly mark: string;
  readonly said: string;
  readonly hasEnded: boolean;
  send(line: string): void;
  /** Resolves when it has said it, has ended, or the time is over. */
  until(isSaid: (said: string) => boolean, mostMs?: number): Promise<void>;
}

interface SpawnOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly by?: readonly string[];
}

export function spawnPawl(args: readonly string[], { cwd, env, by = [] }: SpawnOptions): SpawnedPawl {
  const mark = randomUUID();
  const [program = process.execPath, ...rest] = [...by, process.execPath, MAIN, ...args];
  const child = spawn(program, rest, {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, ...COMPILE_CACHE, ...env, [MARK]: mark },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      child.emit("said");
    });
  child.stdin.on("error", () => undefined);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    mark,
    get said() {
      return said;
    },
    get hasEnded() {
      return hasEnded();
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    async until(isSaid, mostMs = 60_000) {
      const signal = AbortSignal.timeout(Math.ceil(mostMs));
      while (!isSaid(said) && !hasEnded() && !signal.aborted) {
        const next = [once(child, "said", { signal }), once(child, "close", { signal })];
        await Promise.race(next).catch(() => undefined);
        for (const each of next) each.catch(() => undefined);
      }
    },
  };
}

/** Ends the process and what it has started, each by its id. */
export function endMarked(mark: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (!environmentOf(pid).includes(`${MARK}=${mark}\0`)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

function environmentOf(pid: string): string {
  try {
    return `${readFileSync(`/proc/${pid}/environ`, "utf8")}\0`;
  } catch {
    return "";
  }
}
