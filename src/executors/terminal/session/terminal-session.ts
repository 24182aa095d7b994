import { StringDecoder } from "node:string_decoder";
import type { Terminal } from "@xterm/headless";
import { SessionCommands } from "../command/session-commands.ts";
import { gathersLines, isHiddenPrompt } from "../input/hidden-prompt.ts";
import { NOTHING_TYPED, readTypedLines, type TypedLine } from "../input/typed-line.ts";
import { type ExpectedEcho, NO_ECHO } from "../screen/echo.ts";
import { openModel } from "../screen/open-model.ts";
import { OutputSinceInput, type RecentOutput } from "../screen/output-since-input.ts";
import { TerminalScreen, unfinishedSequence } from "../screen/terminal-screen.ts";
import { OutputStream } from "./output-stream.ts";
import type { Pty, PtyEnd, PtyEvents, SessionFacts, ShownBefore } from "./pty.ts";

export type SessionState = "initializing" | "active" | "waiting" | "error" | "terminated";

/** How the output looks from outside, as it has been taken in. */
export interface OutputListener {
  data(data: string): void;
  resized?(columns: number, rows: number): void;
  ended?(): void;
}

/** Called with what has come, or with nothing at the end. */
type Watcher = (piece: string) => void;

/** If a program leaves this much unread, nothing more is typed. */
const MAX_UNREAD = 256 * 1024;
/** The bytes of a line in canonical mode, without its end. */
const MAX_GATHERED = process.platform === "linux" ? 4_095 : 1_023;
const KNOWN_PROMPTS = 8;
/** Follows the output as it comes. */
const RESET = "\u001bc";

/** One terminal: a program in it, the model of its screen, and what has been typed. */
export class TerminalSession {
  readonly facts: SessionFacts;
  readonly screen: TerminalScreen;
  readonly stream = new OutputStream();
  readonly commands = new SessionCommands(this.stream);
  readonly #model: Terminal;
  readonly #output: OutputSinceInput;
  readonly #decoder = new StringDecoder("utf8");
  readonly #listeners = new Set<OutputListener>();
  readonly #watchers = new Set<Watcher>();
  #pty: Pty | undefined;
  #end: { readonly at: Date; readonly how: PtyEnd } | undefined;
  #lastActivityAt: Date;
  #hasPrinted = false;
  #waits = 0;
  /** Handed to the model and not yet taken in by it. */
  #inFlight = 0;
  #typed: TypedLine = NOTHING_TYPED;
  #prompts: readonly string[] = [];
  #looked: Promise<unknown> = Promise.resolve();
  /** Has come without its end: a viewer who joins now needs its beginning. */
  #unfinished = "";

  constructor(facts: SessionFacts, model: Terminal) {
    this.facts = facts;
    this.#model = model;
    this.#lastActivityAt = facts.createdAt;
    this.screen = new TerminalScreen(model);
    this.#output = new OutputSinceInput(model);
    // Programs ask terminals what they are and where the cursor is.
    model.onData((answer) => this.#pty?.answersQueries === true || this.#pty?.write(answer));
  }

  get events(): PtyEvents {
    return { data: (data) => this.#receive(data), exited: (how, shown) => this.#exited(how, shown) };
  }

  /** The terminal that the events come from. */
  attach(pty: Pty): void {
    this.#pty = pty;
  }

  /** For a terminal that has been found again. */
  restore({ before, after, input }: ShownBefore): void {
    this.#typed = input?.typed ?? NOTHING_TYPED;
    this.#prompts = input?.prompts ?? [];
    this.#model.write(before, () => this.#output.restart(input?.echo ?? NO_ECHO));
    this.#model.write(after);
    this.#hasPrinted = true;
  }

  get pid(): number | undefined {
    return this.#pty?.pid;
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** `undefined` while the program runs, `null` where it is unknown. A signal counts as in shells: 128 and its number. */
  get exitCode(): number | null | undefined {
    if (this.#end === undefined) return undefined;
    const { how } = this.#end;
    return how === undefined ? null : how.signal > 0 ? 128 + how.signal : how.exitCode;
  }

  get endedAt(): Date | undefined {
    return this.#end?.at;
  }

  get lastActivityAt(): Date {
    return this.#lastActivityAt;
  }

  get state(): SessionState {
    if (this.#end !== undefined) return this.#end.how === undefined ? "error" : "terminated";
    if (this.#waits > 0) return "waiting";
    return this.#hasPrinted ? "active" : "initializing";
  }

  /** The line that is being typed, as far as it is known. */
  get typedLine(): TypedLine {
    return this.#typed;
  }

  /** Whether the program leaves so much unread that more would only pile up. */
  get isClogged(): boolean {
    return (this.#pty?.unread ?? 0) > MAX_UNREAD;
  }

  /** Whether all that has come is on the screen. */
  get isCaughtUp(): boolean {
    return this.#inFlight === 0;
  }

  /** Whether what is typed now is kept from sight, as passwords are. Answers in the order in which it was asked. */
  asksHidden(): Promise<boolean> {
    const looks = this.#looked.then(async () => {
      await this.flush();
      return this.isRunning && this.pid !== undefined && isHiddenPrompt(this.pid, this.screen.readCursorLine());
    });
    this.#looked = looks;
    return looks;
  }

  /** Why a text cannot be typed whole: the kernel drops the end of a line that it gathers for a program, in silence. */
  async findLongLine(input: string): Promise<string | undefined> {
    const [first = "", ...others] = input.split(/[\r\n]/);
    const bytes = Math.max(...[this.#typed.text + first, ...others].map((line) => Buffer.byteLength(line)));
    if (bytes <= MAX_GATHERED || this.pid === undefined || !(await gathersLines(this.pid))) return undefined;
    return (
      `The program takes whole lines, of at most ${MAX_GATHERED} bytes each, and one of these would have ${bytes}. ` +
      "Send shorter lines, or put the text into a file."
    );
  }

  /** Types something. What comes from here on is output since this input. `isHidden`: nothing of it is remembered. */
  async type(input: string, isHidden = false): Promise<void> {
    const begun = this.#typed;
    // At once: the next typing is judged by the line that this makes.
    this.#typed = isHidden ? NOTHING_TYPED : readTypedLines(begun, input).current;
    await this.flush();
    const echo = isHidden ? NO_ECHO : this.#expectEcho(input, begun);
    this.#output.restart(echo);
    this.#pty?.noteInput?.({ echo, typed: this.#typed, prompts: this.#prompts });
    this.#lastActivityAt = new Date();
    this.#pty?.write(input);
  }

  readOutput(): RecentOutput {
    return this.#output.read();
  }

  /** About so much of the end of it, which is cheaper when it is much. */
  readOutputEnd(length: number): string {
    return this.#output.readEnd(length);
  }

  resize(columns: number, rows: number): void {
    this.#model.resize(columns, rows);
    this.#pty?.resize(columns, rows);
    for (const listener of this.#listeners) listener.resized?.(columns, rows);
  }

  /** Resolves when what has come so far is on the screen. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#model.write("", resolve));
  }

  /** Calls after everything that has changed the screen, and at the end. Returns how to stop. */
  watch(changed: Watcher): () => boolean {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** While a caller waits for output, each state of the screen counts, also one that is overwritten at once. */
  watchClosely(changed: Watcher): () => void {
    this.#waits += 1;
    const stop = this.watch(changed);
    return () => {
      if (stop()) this.#waits -= 1;
    };
  }

  /** For a live view: a text that shows the screen as it is now, then all output that follows. */
  join(listener: OutputListener): { readonly snapshot: string; leave(): void } {
    const leave = this.listen(listener);
    return { snapshot: this.snapshot(), leave };
  }

  /** Tells of all that comes from now on. Returns how to stop. */
  listen(listener: OutputListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A text that makes an empty terminal of this size show the screen, and go on with what comes next. */
  snapshot(): string {
    return this.screen.serialize() + this.#unfinished;
  }

  /** Ends the program and all that it has started, and frees what the session holds. */
  async destroy(): Promise<void> {
    await this.#pty?.end();
    if (this.#end === undefined) this.#ended(undefined);
    this.#model.dispose();
  }

  #receive(bytes: Uint8Array): void {
    this.stream.append(bytes);
    this.commands.received();
    const data = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    const pieces = this.#waits > 0 ? splitForWatching(data) : [data];
    for (const piece of pieces) {
      this.#inFlight += piece.length;
      this.#model.write(piece, () => this.#takenIn(piece));
    }
    this.#model.write("", () => this.#pty?.taken(bytes.length));
  }

  #takenIn(piece: string): void {
    this.#inFlight -= piece.length;
    this.#hasPrinted = true;
    this.#lastActivityAt = new Date();
    this.#unfinished = unfinishedSequence(this.#unfinished + piece);
    if (this.#waits > 0) this.#output.collect();
    for (const listener of this.#listeners) listener.data(piece);
    this.#changed(piece);
  }

  #exited(how: PtyEnd, shown?: ShownBefore): void {
    if (shown === undefined) this.#model.write("", () => this.#ended(how));
    else void this.#showLast(shown).then(() => this.#ended(how));
  }

  /** The holder of the terminal may not have passed on the last output. */
  async #showLast(shown: ShownBefore): Promise<void> {
    await this.flush();
    const { columns, rows } = this.screen;
    const model = await openModel({ columns, rows, scrollbackRows: 0 });
    await new Promise<void>((resolve) => model.write(shown.before + shown.after, resolve));
    const isComplete = new TerminalScreen(model).readScreen() === this.screen.readScreen();
    model.dispose();
    if (isComplete || this.#end !== undefined) return;
    this.#model.write(RESET);
    this.#unfinished = "";
    this.restore(shown);
    await this.flush();
    const screen = this.screen.serialize();
    for (const listener of this.#listeners) listener.data(RESET + screen);
    this.#changed(screen);
  }

  #ended(how: PtyEnd): void {
    this.#end ??= { at: new Date(), how };
    for (const listener of this.#listeners) listener.ended?.();
    this.#changed("");
  }

  #changed(piece: string): void {
    for (const watcher of [...this.#watchers]) watcher(piece);
  }

  #expectEcho(input: string, begun: TypedLine): ExpectedEcho {
    const { submitted, current } = readTypedLines(NOTHING_TYPED, input);
    const before = this.screen.readCursorLine();
    if (begun.text === "" && before.trim() !== "")
      this.#prompts = [before, ...this.#prompts.filter((known) => known !== before)].slice(0, KNOWN_PROMPTS);
    const lines = [
      ...submitted.map((typed) => ({ typed, isSubmitted: true })),
      ...(current === NOTHING_TYPED ? [] : [{ typed: current, isSubmitted: false }]),
    ];
    const { columns, column } = this.screen;
    return { lines, prompts: this.#prompts, column, columns, isTypedAhead: before === "" };
  }
}

/** A screenful of lines that went by at once must not have left the model before it was looked at. */
const MAX_LINES = 1_000;
/** Looking costs something: a program that only redraws one line is looked at as often as there is time. */
const MAX_OVERWRITES = 32;

const OVERWRITE = /(?<=\r)(?![\r\n])/;

/** Cuts output where what it shows would be lost to someone who looks only at its end. */
function splitForWatching(data: string): string[] {
  const parts = data.split(OVERWRITE, MAX_OVERWRITES + 1);
  const kept = parts.length > MAX_OVERWRITES ? [data] : parts;
  return kept.flatMap(splitManyLines);
}

function splitManyLines(data: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  let lines = 0;
  for (let at = data.indexOf("\n"); at !== -1; at = data.indexOf("\n", at + 1)) {
    lines += 1;
    if (lines % MAX_LINES !== 0) continue;
    pieces.push(data.slice(from, at + 1));
    from = at + 1;
  }
  if (from < data.length || pieces.length === 0) pieces.push(data.slice(from));
  return pieces;
}
