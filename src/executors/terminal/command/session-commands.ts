import { randomBytes } from "node:crypto";
import type { OutputStream } from "../session/output-stream.ts";
import type { FrontProgram } from "./front-program.ts";
import type { ShellKind } from "./shell-lines.ts";

/** So much of the beginning of an output stays when the stream has let it go. */
const HEAD_BYTES = 64 * 1024;
/** A mark is no longer than its folder may be. */
const MAX_MARK_BYTES = 8 * 1024;

export interface CommandEnd {
  readonly at: number;
  readonly offset: number;
  /** Null: unknown. */
  readonly exitCode: number | null;
  readonly cwd: string | undefined;
  /** The shell has ended, and the command with it. */
  readonly isShellEnd: boolean;
}

export interface ShellCommand {
  readonly number: number;
  readonly text: string;
  readonly shell: FrontProgram;
  readonly startedAt: number;
  /** The offset of its output. Undefined: the shell has not come to it yet. */
  begin: number | undefined;
  head: Buffer | undefined;
  end: CommandEnd | undefined;
  /** Up to there its output has been told. */
  told: number;
  isEndTold: boolean;
}

export interface FarShell {
  readonly kind: ShellKind;
  /** It knows how to print marks. */
  readonly isTaught: boolean;
}

/** The commands of a session: finds the marks around them in its output. */
export class SessionCommands {
  /** Marks without it are output. */
  readonly nonce = randomBytes(8).toString("hex");
  /** Shells that know how to print marks. */
  readonly taught = new Set<string>();
  readonly #stream: OutputStream;
  readonly #prefix = Buffer.from("\u001b]633;");
  readonly #listeners = new Set<() => void>();
  #searched = 0;
  #running: ShellCommand[] = [];
  #last: ShellCommand | undefined;
  #identified: ((shell: FarShell) => void) | undefined;

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  /** The one to wait for: the latest whose end has not been told, else one that runs, else the latest. */
  get awaited(): ShellCommand | undefined {
    return this.#last?.isEndTold === false ? this.#last : (this.#running.at(-1) ?? this.#last);
  }

  get latest(): ShellCommand | undefined {
    return this.#last;
  }

  get next(): number {
    return (this.#last?.number ?? 0) + 1;
  }

  get running(): readonly ShellCommand[] {
    return this.#running;
  }

  add(text: string, shell: FrontProgram): ShellCommand {
    const number = this.next;
    const begun = { begin: undefined, head: undefined, end: undefined, told: 0, isEndTold: false };
    const command: ShellCommand = { number, text, shell, startedAt: performance.now(), ...begun };
    if (this.#running.length === 0) this.#searched = this.#stream.end;
    this.#running.push(command);
    this.#last = command;
    return command;
  }

  /** Calls when a command has begun or ended. Returns how to stop. */
  watch(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  /** Asks who reads what is typed. Undefined: no shell has answered in time. */
  async identify(ask: () => Promise<void>, timeoutMs: number): Promise<FarShell | undefined> {
    if (this.#running.length === 0) this.#searched = this.#stream.end;
    const { promise, resolve } = Promise.withResolvers<FarShell | undefined>();
    this.#identified = resolve;
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    try {
      await ask();
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#identified = undefined;
    }
  }

  /** More output has come. */
  received(): void {
    if (this.#running.length === 0 && this.#identified === undefined) return;
    const bytes = this.#stream.read(this.#searched);
    const from = this.#stream.end - bytes.length;
    let next = Math.max(0, bytes.length - this.#prefix.length + 1);
    for (let at = bytes.indexOf(this.#prefix); at !== -1; at = bytes.indexOf(this.#prefix, at + 1)) {
      const end = bytes.indexOf(7, at);
      if (end === -1) {
        if (bytes.length - at < MAX_MARK_BYTES) next = Math.min(next, at);
        break;
      }
      const mark = bytes.subarray(at + this.#prefix.length, end).toString();
      this.#read(mark.split(";"), { from: from + at, to: from + end + 1 });
      next = Math.max(next, end + 1);
    }
    this.#searched = from + next;
    for (const command of this.#running) this.#keepHead(command);
  }

  /** The shell of a command is gone, and those that were typed into shells within it. */
  lost(command: ShellCommand, exitCode: number | null, isShellEnd = true): void {
    this.#end(command, { offset: this.#stream.end, exitCode, cwd: undefined, isShellEnd });
  }

  #read([type, nonce, number, code, ...folder]: readonly string[], place: { from: number; to: number }): void {
    if (nonce !== this.nonce) return;
    if (type === "I") {
      const [zsh = "", fish = "", known] = [code, ...folder];
      const kind = number ? "bash" : zsh ? "zsh" : fish ? "fish" : "sh";
      this.#identified?.({ kind, isTaught: known === this.nonce });
      return;
    }
    const command = this.#running.find((each) => String(each.number) === number);
    if (command === undefined) return;
    if (type === "C") {
      command.begin ??= place.to;
      command.told = command.begin;
    } else if (type === "D" && command.begin !== undefined) {
      const exitCode = Number.parseInt(code ?? "", 10);
      const end = { exitCode: Number.isNaN(exitCode) ? null : exitCode, cwd: folder.join(";"), isShellEnd: false };
      this.#end(command, { ...end, offset: place.from });
    }
    this.#tell();
  }

  #end(command: ShellCommand, end: Omit<CommandEnd, "at">): void {
    this.#keepHead(command);
    const index = this.#running.indexOf(command);
    if (index === -1) return;
    const within = this.#running.slice(index + 1);
    this.#running = this.#running.slice(0, index);
    const at = performance.now();
    command.end = { ...end, at };
    // Shells that were begun by this one are gone with it, and so is what ran in them.
    for (const inner of within) inner.end = { ...end, at, isShellEnd: true };
    this.#tell();
  }

  #keepHead(command: ShellCommand): void {
    const { begin } = command;
    if (begin === undefined || (command.head?.length ?? 0) >= HEAD_BYTES) return;
    if (command.head === undefined || this.#stream.start <= begin)
      command.head = this.#stream.end - begin >= HEAD_BYTES ? this.#stream.read(begin, begin + HEAD_BYTES) : undefined;
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
