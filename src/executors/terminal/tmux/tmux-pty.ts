import { rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { writeExact } from "../../../core/exact-json.ts";
import { isAlive, readStat, sendSignal } from "../../sandbox/kernel/processes.ts";
import { endProcesses, type Origin } from "../pty-host/end-processes.ts";
import { OutputWindow } from "../pty-host/output-window.ts";
import type { InputNote, Pty, PtyEnd, PtyEvents, ShownBefore } from "../session/pty.ts";
import { ControlClient, type TmuxServer } from "./control-client.ts";
import { INPUT_OPTIONS, readShown } from "./read-shown.ts";

/** The bytes of one command. */
const KEYS_LENGTH = 512;
/** tmux does not report unread input: a program that has printed nothing for so much input is taken to read none. */
const MAX_SILENT = 4 * 1024 * 1024;

const SERVER_GRACE_MS = 500;
const LOOK_EVERY_MS = 10;

interface TmuxPtyParts {
  readonly brand: string | undefined;
  readonly events: PtyEvents;
  /** The rows above the screen that are read again. */
  readonly historyRows: number;
  readonly reminder: Reminder | undefined;
  /** Nothing is left of it. */
  ended(): void;
}

/** A program in a terminal that a tmux server holds, which outlives this process. */
export class TmuxPty implements Pty {
  /** tmux tells programs what their terminal is. */
  readonly answersQueries = true;
  readonly #server: TmuxServer;
  readonly #parts: TmuxPtyParts;
  readonly #control: ControlClient;
  readonly #death: ControlClient;
  readonly #window: OutputWindow;
  #pid = 0;
  #serverPid = 0;
  #gathered: Buffer[] = [];
  #silent = 0;
  /** Earlier output is part of the screen that is read. */
  #isListening = false;
  #hasExited = false;
  #isLeft = false;
  #onExit: (() => void) | undefined;
  #stopReminding: (() => void) | undefined;

  constructor(server: TmuxServer, parts: TmuxPtyParts) {
    this.#server = server;
    this.#parts = parts;
    this.#control = new ControlClient(server, {
      output: (bytes) => this.#gather(bytes),
      ended: () => this.#exited(undefined),
    });
    this.#window = new OutputWindow(this.#control);
    // It waits in the server, where a program's end is known at once.
    this.#death = new ControlClient(server, { ended: () => undefined });
  }

  get pid(): number {
    return this.#pid;
  }

  get unread(): number {
    return this.#silent > MAX_SILENT ? this.#silent : 0;
  }

  get origin(): Origin {
    return { pid: this.#pid, brand: this.#parts.brand, runs: !this.#hasExited };
  }

  /** For a new terminal: lets its program begin. Rejects where the terminal is gone. */
  async start(): Promise<this> {
    this.#isListening = true;
    await this.#learnPids();
    this.#watchForEnd();
    this.#control.send("wait-for -S start");
    return this;
  }

  /** For one that has been found: `restore` is called once, before the first event. Rejects where it is gone. */
  async takeUp(restore: (shown: ShownBefore) => void): Promise<this> {
    await this.#learnPids();
    // Nothing more is waited for: output counts from here on, and more than some of it does not come until it is taken.
    await this.#control.awake(
      new Promise<void>((resolve) => {
        readShown(this.#control, this.#parts.historyRows, (shown) => {
          restore(shown);
          this.#isListening = true;
          resolve();
        });
      }),
    );
    this.#watchForEnd();
    return this;
  }

  noteInput(note: InputNote): void {
    const input = Buffer.from(writeExact(note)).toString("base64");
    for (const option of INPUT_OPTIONS) this.#control.send(option(input));
  }

  write(data: string): void {
    if (this.#hasExited) return;
    const bytes = Buffer.from(data);
    this.#silent += bytes.length;
    for (let at = 0; at < bytes.length; at += KEYS_LENGTH) {
      const keys = bytes
        .subarray(at, at + KEYS_LENGTH)
        .toString("hex")
        .replace(/../g, " $&");
      // Bytes, never names of keys.
      this.#control.send(`send-keys -H${keys}`);
    }
  }

  resize(columns: number, rows: number): void {
    this.#control.send(`resize-window -x ${columns} -y ${rows}`);
  }

  taken(length: number): void {
    this.#window.taken(length);
  }

  whenExited(callback: () => void): void {
    if (this.#hasExited) return callback();
    this.#onExit = callback;
    this.#window.open();
  }

  async end(): Promise<void> {
    if (this.#isLeft) return;
    await this.#control.awake(endProcesses([this]));
    await this.#control.ask("kill-server");
    await this.#endServer();
    rmSync(this.#server.socket, { force: true });
    this.leave();
    this.#parts.ended();
  }

  /** The program goes on without this process. */
  leave(): void {
    this.#isLeft = true;
    this.#stopReminding?.();
    this.#control.detach();
    this.#death.detach();
  }

  /** A server does not end while it has words for a client whose process was killed. */
  async #endServer(): Promise<void> {
    const deadline = performance.now() + SERVER_GRACE_MS;
    while (isAlive(this.#serverPid) && performance.now() < deadline) await setTimeout(LOOK_EVERY_MS);
    if (isAlive(this.#serverPid)) sendSignal([this.#serverPid], "SIGKILL");
  }

  async #learnPids(): Promise<void> {
    const { isOk, text } = await this.#control.ask("display-message -p '#{pane_pid} #{pid}'");
    if (!isOk) throw new Error(text);
    [this.#pid = 0, this.#serverPid = 0] = text.split(" ").map(Number);
  }

  #watchForEnd(): void {
    if (!this.#hasExited) this.#stopReminding = this.#parts.reminder?.watch(this);
    // The first is answered at once, but only the program's end lets the second begin.
    this.#death.send("wait-for dead");
    this.#death.send("display-message -p ''", ({ isOk: hasDied }) => hasDied && this.#askHowItEnded());
    // It may have ended before.
    this.#askHowItEnded();
  }

  #askHowItEnded(): void {
    this.#control.send("display-message -p '#{pane_dead} #{pane_dead_status}/#{pane_dead_signal}'", ({ text }) => {
      const [, isDead, status, signal] = /^(\d) (\d*)\/(\d*)$/.exec(text) ?? [];
      if (isDead !== "1") return;
      const how = { exitCode: Number(status || 0), signal: Number(signal || 0) };
      // tmux drops what it has not written yet when a program ends.
      readShown(this.#control, this.#parts.historyRows, (shown) => this.#exited(how, shown));
    });
  }

  #gather(bytes: Buffer): void {
    if (!this.#isListening) return;
    if (this.#gathered.length === 0) setImmediate(() => this.#flush());
    this.#gathered.push(bytes);
    this.#silent = 0;
    this.#window.gathered(bytes.length);
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    if (bytes.length > 0 && !this.#isLeft) this.#parts.events.data(bytes);
  }

  #exited(how: PtyEnd, shown?: ShownBefore): void {
    if (this.#hasExited || this.#isLeft) return;
    this.#hasExited = true;
    this.#stopReminding?.();
    if (this.#gathered.length > 0) this.#flush();
    this.#onExit?.();
    this.#parts.events.exited(how, shown);
  }
}

const REMIND_EVERY_MS = 1_000;

/** tmux before 3.5 (Debian) misses the end of some programs. Once a second their servers are sent the signal again. */
export class Reminder {
  readonly #watched = new Set<{ readonly pid: number }>();
  #timer: NodeJS.Timeout | undefined;

  /** Reminds until the returned function is called. */
  watch(program: { readonly pid: number }): () => void {
    this.#watched.add(program);
    this.#timer ??= setInterval(() => this.#look(), REMIND_EVERY_MS).unref();
    return () => {
      this.#watched.delete(program);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #look(): void {
    for (const { pid } of this.#watched) {
      const parent = parentOfZombie(pid);
      if (parent !== undefined) sendSignal([parent], "SIGCHLD");
    }
  }
}

/** Undefined: it runs, or its parent knows of its end. */
function parentOfZombie(pid: number): number | undefined {
  try {
    const [state, parent] = readStat(pid).fields;
    return state === "Z" && parent !== undefined ? Number(parent) : undefined;
  } catch {
    return undefined;
  }
}
