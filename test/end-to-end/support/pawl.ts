import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { createApp } from "../../../src/app/create-app.ts";
import { type ProcessIo, withIo } from "../../../src/surfaces/cli/process-io.ts";
import { runCli } from "../../../src/surfaces/cli/run-cli.ts";
import { COMPILE_CACHE } from "../../fakes/compile-cache.ts";
import { profileEnvironment } from "./profile.ts";

/** CI names the program as it is built. */
const MAIN = process.env["PAWL_TEST_PROGRAM"] ?? fileURLToPath(new URL("../../../src/main.ts", import.meta.url));
const PROGRAM = [process.execPath, MAIN];

export interface PawlOptions {
  /** The application. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface PawlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real `pawl` process; it ends with its test. */
export interface RunningPawl {
  readonly pid: number;
  readonly ended: Promise<PawlResult>;
  /** Resolves as soon as the text has been written to stderr; rejects where the process ends without it. */
  said(text: string): Promise<void>;
  /** The first match on stderr, as soon as there is one. */
  told(pattern: RegExp): Promise<string>;
  /** Resolves with stdout as soon as it has the text; rejects where the process ends without it. */
  printed(text: string): Promise<string>;
  /** The id of the run that the process shows. */
  runId(): Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

export function startPawl(args: readonly string[], options: PawlOptions): RunningPawl {
  const { command, env } = pawlCommand(args, options);
  const [program = process.execPath, ...rest] = command;
  const child = spawn(program, rest, {
    cwd: options.cwd,
    env: { ...env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return new Process(child);
}

/** For tests that start the process themselves. Without options it keeps its data in a folder, whatever the profile. */
export function pawlCommand(
  args: readonly string[],
  options?: PawlOptions,
): {
  readonly command: readonly string[];
  readonly env: Record<string, string>;
} {
  const profile = options === undefined ? {} : profileEnvironment(args, options);
  return { command: [process.execPath, MAIN, ...args], env: { ...bareEnvironment(), ...profile } };
}

/**
 * Runs a command to its end, in this process: what takes a real one half a second takes milliseconds here. A test about
 * processes, signals or the end of a process uses `startPawl`.
 */
export async function pawl(args: readonly string[], { cwd, env }: PawlOptions): Promise<PawlResult> {
  const stdout = new Collected();
  const stderr = new Collected();
  const exited = Promise.withResolvers<number>();
  const leave = enter(cwd);
  try {
    const io = {
      stdin: Readable.from([]),
      stdout,
      stderr,
      env: { ...bareEnvironment(), ...profileEnvironment(args, { cwd, env }), ...env },
      exit: (code: number) => exited.resolve(code),
    };
    const run = withIo(io as unknown as ProcessIo, () =>
      runCli(args, (given) => createApp({ ...given, program: PROGRAM })),
    );
    const code = await Promise.race([run, exited.promise]);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    leave();
  }
}

class Collected extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Commands that run at once share the folder of their process, so they must have the same one. */
const inFolder = { before: "", current: "", commands: 0 };

function enter(cwd: string): () => void {
  if (inFolder.commands === 0) {
    Object.assign(inFolder, { before: process.cwd(), current: cwd });
    process.chdir(cwd);
  }
  if (inFolder.current !== cwd)
    throw new Error("Two commands at once in two folders: start one of them with startPawl.");
  inFolder.commands += 1;
  return () => {
    inFolder.commands -= 1;
    if (inFolder.commands === 0) process.chdir(inFolder.before);
  };
}

class Process implements RunningPawl {
  readonly ended: Promise<PawlResult>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  #stdout = "";
  #stderr = "";

  constructor(child: ChildProcessByStdio<null, Readable, Readable>) {
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    this.ended = once(child, "close").then(([code]: (number | null)[]) => {
      return { code: code ?? null, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async said(text: string): Promise<void> {
    await this.#until(this.#child.stderr, () => this.#stderr, text);
  }

  async told(pattern: RegExp): Promise<string> {
    await this.#until(this.#child.stderr, () => this.#stderr, pattern);
    return pattern.exec(this.#stderr)?.[0] ?? "";
  }

  async printed(text: string): Promise<string> {
    await this.#until(this.#child.stdout, () => this.#stdout, text);
    return this.#stdout;
  }

  async runId(): Promise<string> {
    await this.said(" of ");
    const [, id] = /^run (\S+) of /m.exec(this.#stderr) ?? [];
    if (id === undefined) throw new Error(`No run in:\n${this.#stderr}`);
    return id;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async #until(stream: Readable, written: () => string, text: string | RegExp): Promise<void> {
    let hasEnded = false;
    const end = this.ended.then(() => {
      hasEnded = true;
    });
    while (!(text instanceof RegExp ? text.test(written()) : written().includes(text))) {
      if (hasEnded) throw new Error(`The process ended without "${text}":\n${this.#stdout}${this.#stderr}`);
      await Promise.race([end, once(stream, "data")]);
    }
  }
}

/** Nothing of this machine's configuration reaches a test. */
function bareEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), ...COMPILE_CACHE };
}
