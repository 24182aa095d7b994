import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** The socket of a tmux server, and the program to talk to it. */
export interface TmuxServer {
  readonly program: string;
  readonly socket: string;
}

export interface ControlEvents {
  /** Output of the program, as bytes. Comes in order with replies. */
  output?(bytes: Buffer): void;
  /** The client has ended: the server is gone, or one of them was ended. */
  ended(): void;
}

export interface Reply {
  readonly isOk: boolean;
  /** Without the line feed at the end. */
  readonly text: string;
}

type OnReply = (reply: Reply) => void;

const NEWLINE = 0x0a;
const OUTPUT = Buffer.from("%output ");

/** A client in tmux's control mode: commands go in as lines, and replies and output come out as lines, in order. */
export class ControlClient {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #events: ControlEvents;
  /** The first reply is that of attaching. */
  readonly #awaited: OnReply[] = [() => undefined];
  #rest: Buffer[] = [];
  #reply: { readonly guard: string; readonly lines: Buffer[] } | undefined;
  #waiting = 0;
  #hasEnded = false;

  constructor({ program, socket }: TmuxServer, events: ControlEvents) {
    const flags = events.output === undefined ? ["-f", "no-output"] : [];
    this.#events = events;
    this.#child = spawn(program, ["-u", "-S", socket, "-C", "attach-session", ...flags], {
      // A group of its own: Ctrl-C is for the process that uses the terminals.
      detached: true,
      env: { PATH: process.env["PATH"], TERM: "xterm-256color", LANG: "C.UTF-8" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#child.stdin.on("error", () => undefined);
    this.#child.once("error", () => this.#end());
    this.#child.once("close", () => this.#end());
    // A pending answer keeps this process alive; an open terminal alone does not.
    this.#hold(false);
  }

  /** One command. `onReply` is called before any output that comes after it. */
  send(command: string, onReply: OnReply = () => undefined): void {
    if (this.#hasEnded) return onReply(GONE);
    this.#awaited.push(onReply);
    this.#child.stdin.write(`${command}\n`);
  }

  /** The same, for those who wait. */
  ask(command: string): Promise<Reply> {
    return this.awake(new Promise((resolve) => this.send(command, resolve)));
  }

  /** Keeps this process from ending while a caller waits. */
  async awake<Result>(work: Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    this.#hold(true);
    try {
      return await work;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#hold(false);
    }
  }

  pause(): void {
    this.#child.stdout.pause();
  }

  resume(): void {
    this.#child.stdout.resume();
  }

  /** Leaves the server and its session alone. */
  detach(): void {
    this.#hasEnded = true;
    this.#child.stdin.end();
    this.#child.stdout.destroy();
    this.#child.kill();
  }

  #hold(isWaiting: boolean): void {
    if (isWaiting) this.#child.ref();
    else this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout]) {
      const socket = stream as Partial<Record<"ref" | "unref", () => void>>;
      if (isWaiting) socket.ref?.();
      else socket.unref?.();
    }
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, at);
      const line = this.#rest.length === 0 ? piece : Buffer.concat([...this.#rest, piece]);
      this.#rest = [];
      from = at + 1;
      this.#take(line);
    }
    if (from < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(from)));
  }

  #take(line: Buffer): void {
    if (this.#reply !== undefined) return this.#takeReply(this.#reply, line);
    if (line.subarray(0, OUTPUT.length).equals(OUTPUT)) {
      const pane = line.indexOf(" ", OUTPUT.length);
      return this.#events.output?.(readOutput(line.subarray(pane + 1)));
    }
    const text = line.toString();
    if (text.startsWith("%begin ")) this.#reply = { guard: text.slice("%begin ".length), lines: [] };
  }

  #takeReply({ guard, lines }: { readonly guard: string; readonly lines: Buffer[] }, line: Buffer): void {
    const text = line[0] === 0x25 ? line.toString() : "";
    const isOk = text === `%end ${guard}`;
    if (!isOk && text !== `%error ${guard}`) {
      lines.push(Buffer.from(line));
      return;
    }
    this.#reply = undefined;
    this.#awaited.shift()?.({ isOk, text: lines.map((each) => each.toString()).join("\n") });
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const onReply of this.#awaited.splice(0)) onReply(GONE);
    this.#events.ended();
  }
}

const GONE: Reply = { isOk: false, text: "The tmux server is gone." };

const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** Output as tmux writes it: control characters and backslashes as `\ooo`, everything else as it is. */
function readOutput(escaped: Buffer): Buffer {
  const output = Buffer.allocUnsafe(escaped.length);
  let length = 0;
  for (let at = 0; at < escaped.length; at += 1) {
    const byte = escaped[at] ?? 0;
    if (byte === BACKSLASH && at + 3 < escaped.length) {
      output[length] = (digit(escaped, at + 1) << 6) | (digit(escaped, at + 2) << 3) | digit(escaped, at + 3);
      at += 3;
    } else output[length] = byte;
    length += 1;
  }
  return output.subarray(0, length);
}

function digit(escaped: Buffer, at: number): number {
  return ((escaped[at] ?? ZERO) - ZERO) & 7;
}
