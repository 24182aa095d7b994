import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { COMPILE_CACHE } from "../../fakes/compile-cache.ts";
import type { PostgresWay } from "./postgres-way.ts";

const MAIN = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));
const SHIFTED_CLOCK = fileURLToPath(new URL("shifted-clock.ts", import.meta.url));

export type Role = "api" | "scheduler" | "worker";

export interface ProcessOptions {
  readonly role: Role;
  readonly name: string;
  readonly app: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly way: PostgresWay;
}

/** One process of the topology, which is killed and comes back at the same port. */
export class PawlProcess {
  readonly role: Role;
  readonly name: string;
  readonly way: PostgresWay;
  readonly #options: ProcessOptions;
  #child: ChildProcess | undefined;
  #port = 0;
  /** What its clock shows beside the true time. */
  clockOffsetMs = 0;
  /** Not yet listening, or not any more. */
  isUp = false;
  /** Ends that nobody has caused. */
  readonly crashes: string[] = [];
  #isWanted = false;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.role = options.role;
    this.name = options.name;
    this.way = options.way;
    // Whoever ends the driver ends everything.
    process.once("exit", () => this.#child?.kill("SIGKILL"));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when it listens; rejects where it ends before that. */
  async start(): Promise<void> {
    const { role, name, app, folder, env } = this.#options;
    const command = role === "worker" ? ["worker"] : ["serve", "--role", role];
    const clock = { NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`, PAWL_CHAOS_CLOCK_MS: String(this.clockOffsetMs) };
    const child = spawn(process.execPath, [MAIN, ...command, "--port", String(this.#port)], {
      cwd: app,
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        PAWL_DATA: join(folder, name),
        ...COMPILE_CACHE,
        ...(this.clockOffsetMs === 0 ? {} : clock),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.#isWanted = true;
    child.stderr.pipe(createWriteStream(join(folder, `${name}.log`), { flags: "a" }));
    const { promise: listens, resolve, reject } = Promise.withResolvers<void>();
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const [, port] = /^Pawl listens on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(said) ?? [];
      if (port === undefined) return;
      this.#port = Number(port);
      this.isUp = this.#child === child;
      resolve();
    });
    child.once("exit", (code, signal) => {
      // One that cannot start while the database is down is started again by whoever supervises it.
      const wasUp = this.#child === child && this.isUp;
      if (wasUp) this.isUp = false;
      if (this.#isWanted && wasUp) this.crashes.push(`${name} ended by itself: ${code ?? signal}`);
      reject(new Error(`${name} ended before it listened: ${code ?? signal}`));
    });
    await listens;
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(name);
  }

  /** Without a word (`SIGKILL`), or politely (`SIGTERM`). Resolves with how long it has taken, in milliseconds. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    const child = this.#child;
    this.#isWanted = false;
    this.isUp = false;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return 0;
    const began = performance.now();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
    return performance.now() - began;
  }
}
