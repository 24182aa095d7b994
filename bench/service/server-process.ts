import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Usage {
  readonly rss: number;
  readonly heapUsed: number;
  /** Since it began. */
  readonly cpuMs: number;
}

export interface ServedApplication {
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

interface ChildOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly flags: string[];
  readonly stderr: "inherit" | "ignore";
}

/** A server in a process and a folder of its own. */
export class ServerProcess {
  readonly url: string;
  /** From its start until it answered `/healthz`. */
  readonly readyMs: number;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, about: { url: string; folder: string; readyMs: number }) {
    const { url, folder, readyMs } = about;
    this.#child = child;
    this.url = url;
    this.readyMs = readyMs;
    this.#folder = folder;
  }

  /** `prepare` puts into the folder what is there before it starts. */
  static pawl(
    files: Readonly<Record<string, string>>,
    prepare?: (folder: string) => Promise<void>,
  ): Promise<ServerProcess> {
    const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
    return ServerProcess.#start(files, async (folder) => {
      await prepare?.(folder);
      return [main, "serve", "--port", "0", "--app", folder];
    });
  }

  /** The program as it is installed, with nothing else in its process. Wants `npm run build`. */
  static installed(args: readonly string[], { files, env }: ServedApplication): Promise<ServerProcess> {
    const bin = fileURLToPath(new URL("../../bin/pawl.cjs", import.meta.url));
    return ServerProcess.#start(files, (folder) => [bin, ...args, "--port", "0", "--app", folder], {
      ...{ env, flags: [] },
      // It says that it stops, each time.
      stderr: "ignore",
    });
  }

  static floor(): Promise<ServerProcess> {
    const main = fileURLToPath(new URL("./floor-server.ts", import.meta.url));
    return ServerProcess.#start({}, (folder) => [main, folder]);
  }

  static bare(): Promise<ServerProcess> {
    const main = fileURLToPath(new URL("./bare-server.ts", import.meta.url));
    return ServerProcess.#start({}, () => [main]);
  }

  static async #start(
    files: Readonly<Record<string, string>>,
    toCommand: (folder: string) => string[] | Promise<string[]>,
    { env, flags, stderr }: ChildOptions = { env: {}, flags: reportingFlags(), stderr: "inherit" },
  ): Promise<ServerProcess> {
    const folder = mkdtempSync(join(tmpdir(), "pawl-bench-service-"));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const [main = "", ...args] = await toCommand(folder);
    const startedAt = performance.now();
    const child = fork(main, args, {
      execArgv: flags,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, LOG_LEVEL: "warn", ...env },
      stdio: ["ignore", "pipe", stderr, "ipc"],
    });
    if (child.stdout === null) throw new Error("It has no stdout.");
    for await (const line of createInterface(child.stdout)) {
      const [, url] = /^Pawl listens on (\S+)$/.exec(line) ?? [];
      if (url === undefined) continue;
      child.stdout.resume();
      const health = await fetch(`${url}/healthz`);
      await health.text();
      return new ServerProcess(child, { url, folder, readyMs: performance.now() - startedAt });
    }
    throw new Error("The server has ended before it listened.");
  }

  /** `memory`: after everything that nobody needs has been collected. */
  async usage(asked: "memory" | "processor"): Promise<Usage> {
    const reported = once(this.#child, "message");
    this.#child.send(asked);
    const [usage] = (await reported) as [Usage];
    return usage;
  }

  /** What it holds in memory, as the system counts it. */
  residentMb(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024) / 1e6;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function reportingFlags(): string[] {
  const report = new URL("./usage-report.ts", import.meta.url).href;
  const profile = process.env["BENCH_CPU_PROF"];
  const profiling = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  return ["--expose-gc", "--import", report, ...profiling];
}
