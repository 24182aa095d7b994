import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type JSONRPCMessage, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import type { StandingProgram } from "../../sandbox/sandbox.ts";
import type { ProcessWay } from "../resolve-server.ts";
import { type GroupGuard, signalGroup } from "./group-guard.ts";
import type { MessageReader } from "./message-reader.ts";

const KEPT_STDERR_BYTES = 4 * 1024;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** How long a server may take to end after its input has ended, and then after SIGTERM. */
const END_GRACE_MS = 1_000;
/** Something that a server has started may hold its pipes open for ever after it. */
const DRAIN_MS = 250;

/** What to start instead of a server that is confined. Throws `SANDBOX_MISSING`. Undefined: the sandbox is switched off. */
export type Confine = (way: ProcessWay) => Promise<StandingProgram | undefined>;

/**
 * A server as a child process that speaks over its stdin and stdout. Unlike the SDK's own transport it leads a process
 * group, so that whatever the server has started (`npx`, `uvx`) ends with it, and it keeps the end of its stderr.
 * It gets the SDK's harmless variables and those of its entry, never our own environment. The SDK tells this transport
 * from others by `pid` and `stderr`.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Describes how the process ended. Undefined while it runs. */
  ending: string | undefined;
  /** It has ended and was not told to: by itself, or by a signal from outside. */
  hasDied: "by itself" | "by a signal" | undefined;
  readonly #way: ProcessWay;
  readonly #reader: MessageReader;
  readonly #guard: GroupGuard;
  readonly #confine: Confine;
  readonly #incoming = new MessageLines(MAX_MESSAGE_BYTES);
  readonly #flood = new FloodLimit();
  readonly #said = new Tail(KEPT_STDERR_BYTES);
  #child: ChildProcessWithoutNullStreams | undefined;
  #ended: Promise<void> = Promise.resolve();
  #isClosing = false;
  #isClosed = false;

  constructor(
    way: ProcessWay,
    reader: MessageReader,
    { guard, confine }: { readonly guard: GroupGuard; readonly confine: Confine },
  ) {
    this.#way = way;
    this.#reader = reader;
    this.#guard = guard;
    this.#confine = confine;
    reader.deliver = (message) => {
      this.#flood.countMessage(!("method" in message));
      this.onmessage?.(message);
    };
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The end of what it wrote to stderr. */
  get stderr(): string {
    return this.#said.text;
  }

  async start(): Promise<void> {
    const confined = this.#way.confinedTo === undefined ? undefined : await this.#confine(this.#way);
    // It was closed in the meantime.
    if (this.#isClosing) {
      confined?.release();
      throw new Error("The server is not running.");
    }
    const { command, args, cwd, env } = confined === undefined ? toStart(this.#way) : toConfinedStart(confined);
    const child = spawn(command, [...args], {
      cwd,
      env,
      stdio: ["pipe", "pipe", "pipe"],
      // A group of its own, which also keeps a Ctrl-C that is meant for us from ending it in the middle of a call.
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    if (child.pid !== undefined) {
      this.#guard.watch(child.pid);
      confined?.attach(child.pid);
    }
    child.once("exit", () => confined?.release()).once("error", () => confined?.release());
    this.#listen(child);
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  }

  send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#isClosed) return Promise.reject(new Error("The server is not running."));
    this.#reader.noteSent(message);
    return new Promise((resolve, reject) => {
      child.stdin.write(serializeMessage(message), (error) => {
        // A broken pipe may come before the exit, which says more.
        if (error) this.#hasEndedWithin(END_GRACE_MS).then(() => reject(error), reject);
        else resolve();
      });
    });
  }

  /** Ends its input, then asks, then kills; resolves when nothing of its group is left. */
  async close(): Promise<void> {
    const { pid } = this;
    this.#isClosing = true;
    this.#child?.stdin.end();
    if (pid === null) return this.#reportClosed();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.#hasEndedWithin(END_GRACE_MS)) break;
      signalGroup(pid, signal);
    }
    await this.#ended;
    this.#reportClosed();
  }

  #listen(child: ChildProcessWithoutNullStreams): void {
    child.stdout.on("data", (chunk: Buffer) => this.#hear(chunk));
    child.stderr.on("data", (chunk: Buffer) => this.#said.add(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on("error", (error) => this.onerror?.(error));
    child.on("error", (error) => this.onerror?.(error));
    this.#ended = new Promise((resolve) => child.once("exit", resolve).once("error", () => resolve()));
    child.once("exit", (code, signal) => {
      if (this.ending === undefined && !this.#isClosing) this.hasDied = signal === null ? "by itself" : "by a signal";
      this.ending ??= signal === null ? `exit code ${code}` : `by ${signal}`;
      // Its helpers would outlive it.
      if (child.pid !== undefined) {
        signalGroup(child.pid, "SIGKILL");
        this.#guard.release(child.pid);
      }
      const drained = once(child, "close");
      Promise.race([drained, setTimeout(DRAIN_MS)]).then(
        () => this.#reportClosed(),
        () => this.#reportClosed(),
      );
    });
  }

  #hear(chunk: Buffer): void {
    try {
      for (const line of this.#incoming.push(chunk)) {
        if (this.#isClosed) return;
        this.#deliver(line);
      }
    } catch (reason) {
      this.#giveUp(reason instanceof Error ? reason : new Error(String(reason)));
    }
  }

  /** A line that is no message is noise: some servers print to stdout. */
  #deliver(line: string): void {
    if (this.#reader.hear(line) !== "noise") return;
    this.#flood.countNoise();
    this.onerror?.(new Error("A line is no message."));
  }

  #giveUp(reason: Error): void {
    this.ending = reason.message;
    this.onerror?.(reason);
    this.#child?.stdout.destroy();
    this.#reportClosed();
    this.close().catch(() => undefined);
  }

  #reportClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#incoming.clear();
    this.onclose?.();
  }

  async #hasEndedWithin(ms: number): Promise<boolean> {
    const timer = new AbortController();
    const late = setTimeout(ms, false, { signal: timer.signal }).catch(() => false);
    try {
      return await Promise.race([this.#ended.then(() => true), late]);
    } finally {
      timer.abort();
    }
  }
}

function toStart({ command, args, cwd, env, firstOnPath }: ProcessWay) {
  return { command, args, cwd, env: { ...getDefaultEnvironment(), PATH: searchPath(firstOnPath), ...env } };
}

function toConfinedStart({ command: [command, ...args], cwd, env }: StandingProgram) {
  return { command, args, cwd, env };
}

/** `node` in an entry is the Node that we run on: an older one on the PATH need not know what its servers use. */
function searchPath(first: readonly string[]): string {
  return [...first, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
}

/** Between two messages. A program that prints more speaks another language, and would keep us busy for ever. */
const MAX_NOISE_LINES = 20_000;
/** Unsolicited messages: a burst, and then a rate. */
const MAX_AT_ONCE = 10_000;
const MAX_PER_SECOND = 1_000;

/** Limits the noise and the unsolicited messages of a server, since a flood would block the process. */
class FloodLimit {
  #noiseLines = 0;
  #allowed = MAX_AT_ONCE;
  #countedAt = performance.now();

  /** A line that is no message. Throws when it is one too many. */
  countNoise(): void {
    this.#noiseLines += 1;
    if (this.#noiseLines > MAX_NOISE_LINES)
      throw new Error(`it printed more than ${MAX_NOISE_LINES} lines that are no messages`);
  }

  /** A message; an answer is what we wanted. Throws when it is one too many. */
  countMessage(isAnswer: boolean): void {
    this.#noiseLines = 0;
    if (isAnswer) return;
    const now = performance.now();
    this.#allowed = Math.min(MAX_AT_ONCE, this.#allowed + ((now - this.#countedAt) / 1_000) * MAX_PER_SECOND);
    this.#countedAt = now;
    this.#allowed -= 1;
    if (this.#allowed < 0) throw new Error(`it sent more than ${MAX_PER_SECOND} unsolicited messages a second`);
  }
}

/** The last bytes of a stream. */
class Tail {
  readonly #maxBytes: number;
  #kept = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#kept, chunk]);
    this.#kept = Buffer.from(all.subarray(Math.max(0, all.length - this.#maxBytes)));
  }

  get text(): string {
    return this.#kept.toString("utf8").trim();
  }
}

const NEWLINE = 10;

/** Cuts a stream into lines in one pass. `push` throws if a line has more bytes than it may. */
export class MessageLines {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that `chunk` completes. */
  *push(chunk: Buffer): Generator<string> {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#add(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      const line = Buffer.concat(this.#pieces).toString("utf8");
      this.clear();
      yield line;
    }
    if (rest.length > 0) this.#add(rest);
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  #add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      this.clear();
      throw new Error(`it sent a message of more than ${this.#maxBytes / 1024 / 1024} MiB`);
    }
    this.#pieces.push(piece);
  }
}
