import { type ChildProcess, fork } from "node:child_process";
import type { Pty, PtyEnd, PtyEvents, PtyHolder, PtySpec } from "../session/pty.ts";

/** Said in large pieces, well below what the host sends ahead: each message costs as much as reading a page of output. */
const SAID_LENGTH = 64 * 1024;

/** Starts the process that holds terminals when the first one is opened. */
export class PtyHost implements PtyHolder {
  readonly #ptys = new Map<number, HeldPty>();
  #child: ChildProcess | undefined;
  #lastId = 0;
  #awaited = 0;

  /** Rejects where there is no terminal to be had. */
  open(spec: PtySpec, events: PtyEvents): Promise<Pty> {
    this.#child ??= this.#start();
    this.#lastId += 1;
    const id = this.#lastId;
    return this.#awake(
      new Promise<Pty>((resolve, reject) => {
        const parts = {
          resolve,
          reject,
          send: (message: Unaddressed) => this.#send({ ...message, id }),
          awake: <Result>(work: Promise<Result>) => this.#awake(work),
        };
        this.#ptys.set(id, new HeldPty(events, parts));
        this.#send({ type: "open", id, ...spec });
      }),
    );
  }

  /** Ends everything in all terminals, and the process. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.ref();
    if (child.connected) child.disconnect();
    if (child.exitCode === null && child.signalCode === null) await ended;
  }

  #start(): ChildProcess {
    // A group of its own: Ctrl-C is for the process that uses the terminals.
    const child = fork(new URL("./main.ts", import.meta.url), [], {
      detached: true,
      execArgv: [],
      // It passes bytes on as they are.
      serialization: "advanced",
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("message", (message: FromPtyHost) => this.#receive(message));
    child.once("error", (error) => this.#lost(error));
    child.once("exit", () => this.#lost(new Error("The process that holds the terminals has ended.")));
    // A pending request keeps this process alive; an open terminal alone does not.
    child.unref();
    child.channel?.unref();
    return child;
  }

  /** Keeps this process from ending while a caller waits for an answer. */
  async #awake<Result>(work: Promise<Result>): Promise<Result> {
    this.#awaited += 1;
    this.#child?.channel?.ref();
    try {
      return await work;
    } finally {
      this.#awaited -= 1;
      if (this.#awaited === 0) this.#child?.channel?.unref();
    }
  }

  #send(message: ToPtyHost): void {
    if (this.#child?.connected) this.#child.send(message, () => undefined);
  }

  #receive(message: FromPtyHost): void {
    this.#ptys.get(message.id)?.receive(message);
    if (message.type === "ended" || message.type === "notOpened") this.#ptys.delete(message.id);
  }

  #lost(error: Error): void {
    this.#child = undefined;
    for (const pty of this.#ptys.values()) pty.lost(error);
    this.#ptys.clear();
  }
}

/** A message of one terminal, before it is said which one. */
type Unaddressed = ToPtyHost extends infer Message ? (Message extends ToPtyHost ? Omit<Message, "id"> : never) : never;

interface PtyParts {
  resolve(pty: Pty): void;
  reject(error: Error): void;
  send(message: Unaddressed): void;
  awake<Result>(work: Promise<Result>): Promise<Result>;
}

class HeldPty implements Pty {
  readonly #events: PtyEvents;
  readonly #parts: PtyParts;
  #pid = 0;
  #unread = 0;
  #taken = 0;
  #hasExited = false;
  #isGone = false;
  #onGone: (() => void)[] = [];

  constructor(events: PtyEvents, parts: PtyParts) {
    this.#events = events;
    this.#parts = parts;
  }

  get pid(): number {
    return this.#pid;
  }

  get unread(): number {
    return this.#unread;
  }

  write(data: string): void {
    if (this.#hasExited) return;
    this.#unread += data.length;
    this.#parts.send({ type: "write", data });
  }

  resize(columns: number, rows: number): void {
    this.#parts.send({ type: "resize", columns, rows });
  }

  taken(length: number): void {
    this.#taken += length;
    if (this.#taken < SAID_LENGTH || this.#hasExited) return;
    this.#parts.send({ type: "taken", length: this.#taken });
    this.#taken = 0;
  }

  end(): Promise<void> {
    if (this.#isGone) return Promise.resolve();
    const gone = new Promise<void>((resolve) => this.#onGone.push(resolve));
    this.#parts.send({ type: "end" });
    return this.#parts.awake(gone);
  }

  receive(message: FromPtyHost): void {
    switch (message.type) {
      case "opened":
        this.#pid = message.pid;
        return this.#parts.resolve(this);
      case "notOpened":
        return this.#parts.reject(new Error(message.reason));
      case "data":
        return this.#events.data(message.data);
      case "written":
        this.#unread -= message.length;
        return;
      case "exited":
        return this.#exited({ exitCode: message.exitCode, signal: message.signal });
      case "ended":
        return this.#gone();
    }
  }

  lost(error: Error): void {
    this.#parts.reject(error);
    if (!this.#hasExited) this.#exited(undefined);
    this.#gone();
  }

  #exited(end: PtyEnd): void {
    this.#hasExited = true;
    this.#events.exited(end);
  }

  #gone(): void {
    this.#isGone = true;
    for (const resolve of this.#onGone) resolve();
    this.#onGone = [];
  }
}

export type ToPtyHost =
  | ({ readonly type: "open"; readonly id: number } & PtySpec)
  | { readonly type: "write"; readonly id: number; readonly data: string }
  | { readonly type: "resize"; readonly id: number; readonly columns: number; readonly rows: number }
  /** So much of the output has been taken in; the host sends only so much ahead. */
  | { readonly type: "taken"; readonly id: number; readonly length: number }
  /** Ends all that the terminal has started, also what is left after its program has ended, and forgets it. */
  | { readonly type: "end"; readonly id: number };

export type FromPtyHost =
  | { readonly type: "opened"; readonly id: number; readonly pid: number }
  | { readonly type: "notOpened"; readonly id: number; readonly reason: string }
  | { readonly type: "data"; readonly id: number; readonly data: Uint8Array }
  /** The program has taken so much of what was written. */
  | { readonly type: "written"; readonly id: number; readonly length: number }
  | { readonly type: "exited"; readonly id: number; readonly exitCode: number; readonly signal: number }
  | { readonly type: "ended"; readonly id: number };
