import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import type { GroupGuard } from "./group-guard.ts";
import { MessageLines } from "./message-lines.ts";
import { Patience } from "./patience.ts";
import { signalGroup } from "./process-group.ts";
import type { ProcessWay } from "./resolve-server.ts";
import { Tail } from "./tail.ts";

const KEPT_STDERR_BYTES = 4 * 1024;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** How long a server may take to end after its input has ended, and then after SIGTERM. */
const END_GRACE_MS = 1_000;
/** Something that a server has started may hold its pipes open for ever after it. */
const DRAIN_MS = 250;

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
  /** How the process ended, as soon as it has. */
  ending: string | undefined;
  readonly #way: ProcessWay;
  readonly #guard: GroupGuard;
  readonly #incoming = new MessageLines(MAX_MESSAGE_BYTES);
  readonly #patience = new Patience();
  readonly #said = new Tail(KEPT_STDERR_BYTES);
  #child: ChildProcessWithoutNullStreams | undefined;
  #ended: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(way: ProcessWay, guard: GroupGuard) {
    this.#way = way;
    this.#guard = guard;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The end of what it wrote to stderr. */
  get stderr(): string {
    return this.#said.text;
  }

  start(): Promise<void> {
    const { command, args, cwd, env, firstOnPath } = this.#way;
    const child = spawn(command, [...args], {
      cwd,
      env: { ...getDefaultEnvironment(), PATH: searchPath(firstOnPath), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      // A group of its own, which also keeps a Ctrl-C that is meant for us from ending it in the middle of a call.
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    if (child.pid !== undefined) this.#guard.watch(child.pid);
    this.#listen(child);
    return new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  }

  send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#isClosed) return Promise.reject(new Error("The server is not running."));
    return new Promise((resolve, reject) => {
      child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends its input, then asks, then kills; resolves when nothing of its group is left. */
  async close(): Promise<void> {
    const { pid } = this;
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
      this.#giveUp(toError(reason));
    }
  }

  /** What is no message is noise: servers print to stdout what they should not. */
  #deliver(line: string): void {
    const message = readMessage(line);
    if (message === undefined) {
      this.#patience.hearNoise();
      this.onerror?.(new Error("A line is no message."));
      return;
    }
    this.#patience.hearMessage(!("method" in message));
    this.onmessage?.(message);
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

function readMessage(line: string): JSONRPCMessage | undefined {
  // Most noise is told from a message at its first letter.
  if (!/^\s*\{/.test(line)) return undefined;
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** `node` in an entry is the Node that we run on: an older one on the PATH need not know what its servers use. */
function searchPath(first: readonly string[]): string {
  return [...first, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
}
