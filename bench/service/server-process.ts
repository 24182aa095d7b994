import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

/** A server in a process and a folder of its own. */
export class ServerProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, { url, folder }: { url: string; folder: string }) {
    this.#child = child;
    this.url = url;
    this.#folder = folder;
  }

  static pawl(files: Readonly<Record<string, string>>): Promise<ServerProcess> {
    const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
    return ServerProcess.#start(files, (folder) => [main, "serve", "--port", "0", "--app", folder]);
  }

  static floor(): Promise<ServerProcess> {
    const main = fileURLToPath(new URL("./floor-server.ts", import.meta.url));
    return ServerProcess.#start({}, (folder) => [main, folder]);
  }

  static async #start(
    files: Readonly<Record<string, string>>,
    toCommand: (folder: string) => string[],
  ): Promise<ServerProcess> {
    const folder = mkdtempSync(join(tmpdir(), "pawl-bench-service-"));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const [main = "", ...args] = toCommand(folder);
    const report = new URL("./usage-report.ts", import.meta.url).href;
    const profile = process.env["BENCH_CPU_PROF"];
    const child = fork(main, args, {
      execArgv: [
        "--expose-gc",
        "--import",
        report,
        ...(profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]),
      ],
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, LOG_LEVEL: "warn" },
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    if (child.stdout === null) throw new Error("It has no stdout.");
    for await (const line of createInterface(child.stdout)) {
      const [, url] = /^Pawl listens on (\S+)$/.exec(line) ?? [];
      if (url === undefined) continue;
      child.stdout.resume();
      return new ServerProcess(child, { url, folder });
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

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
