import { once } from "node:events";
import { writeSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { ReadStream, WriteStream } from "node:tty";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import type {
  ScreenChange,
  TerminalSummary,
  TerminalViews,
  ViewWindow,
} from "../../../ports/terminals/terminal-views.ts";
import { sanitize } from "../render/text/sanitize.ts";
import { listenForStop } from "../stop-signals.ts";

export interface Attaching {
  readonly terminals: TerminalViews;
  readonly session: TerminalSummary;
  /** Nothing is typed. */
  readonly isViewOnly: boolean;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
}

export interface Attached {
  readonly text: string;
  readonly exitCode: number;
}

/** Ctrl-], as in telnet: no program at a terminal needs it often. */
const DETACH = "\u001d";
const INTERRUPTED = 130;

/**
 * Shows a terminal in that of the person and types what is typed there, until the detach key, the end of the program or
 * a signal. The other terminal keeps its size; a smaller window follows its cursor. Throws `OWNER_GONE`.
 */
export async function attach(attaching: Attaching): Promise<Attached> {
  const { terminals, session, stdin, stdout } = attaching;
  const signals = listenForStop();
  const terminal = takeTerminal(stdin, stdout);
  const person = new Person(attaching);
  const view = await terminals.watchScreen(session.session_id, person.window).catch((error: unknown) => {
    terminal.giveBack();
    signals.close();
    throw error;
  });
  const resized = () => view.setWindow(person.window);
  stdout.on("resize", resized);
  const stopped = new Promise<Attached>((resolve) => {
    const stop = () => resolve({ text: `detached from ${session.session_id}`, exitCode: INTERRUPTED });
    if (signals.stop.aborted) stop();
    signals.stop.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([stopped, person.typeAll(), person.showAll(() => view.next())]);
  } finally {
    stdout.off("resize", resized);
    view.close();
    person.leave();
    terminal.giveBack();
    signals.close();
  }
}

/** The person at the terminal: what he sees and what he types. */
class Person {
  readonly #attaching: Attaching;
  readonly #decoder = new StringDecoder("utf8");
  #note: string | undefined;
  #last: ScreenChange | undefined;
  #typed: Promise<void> = Promise.resolve();
  #onData: ((bytes: Buffer) => void) | undefined;

  constructor(attaching: Attaching) {
    this.#attaching = attaching;
  }

  /** One row is kept for the line that says where one is and how to leave. */
  get window(): ViewWindow {
    const { columns, rows } = this.#attaching.stdout;
    return { columns: Math.max(1, columns || 80), rows: Math.max(1, (rows || 24) - 1) };
  }

  /** Resolves when the program has ended. The next change is asked for when this one has been written. */
  async showAll(next: () => Promise<ScreenChange>): Promise<Attached> {
    const { session_id } = this.#attaching.session;
    try {
      for (;;) {
        const change = await next();
        this.#last = change;
        await this.#draw(change);
        if (change.end !== undefined) return { text: toEnd(session_id, change.end.exitCode), exitCode: 0 };
      }
    } catch (error) {
      if (!isPawlError(error) || error.code !== "TERMINAL_NOT_FOUND") throw error;
      return { text: toEnd(session_id, null), exitCode: 0 };
    }
  }

  /** Resolves at the detach key, or when there is nobody any more to type. */
  typeAll(): Promise<Attached> {
    const { session, isViewOnly, stdin } = this.#attaching;
    const detached = { text: `detached from ${session.session_id}, which goes on`, exitCode: 0 };
    return new Promise((resolve, reject) => {
      this.#onData = (bytes) => {
        const text = this.#decoder.write(bytes);
        const end = text.indexOf(DETACH);
        const input = end === -1 ? text : text.slice(0, end);
        if (input !== "" && !isViewOnly) this.#type(input, reject);
        if (end !== -1) void this.#typed.then(() => resolve(detached));
      };
      stdin.on("data", this.#onData);
      stdin.once("end", () => resolve(detached));
    });
  }

  leave(): void {
    const { stdin } = this.#attaching;
    if (this.#onData !== undefined) stdin.off("data", this.#onData);
    stdin.pause();
  }

  /** One after the other; no more is read meanwhile. */
  #type(input: string, failed: (error: unknown) => void): void {
    const { terminals, session, stdin } = this.#attaching;
    stdin.pause();
    this.#typed = this.#typed
      .then(() => terminals.type(session.session_id, input))
      .then(
        () => this.#say(undefined),
        (error: unknown) => {
          if (!isPawlError(error) || error.code !== "TERMINAL_REFUSED") failed(error);
          else this.#say(error.message);
        },
      )
      .then(() => {
        if (this.#onData !== undefined) stdin.resume();
      });
  }

  #say(note: string | undefined): void {
    if (note === this.#note) return;
    this.#note = note;
    if (this.#last !== undefined) void this.#draw({ ...this.#last, isWhole: false, rows: [] });
  }

  async #draw(change: ScreenChange): Promise<void> {
    const { stdout } = this.#attaching;
    const text = drawChange(change, { window: this.window, status: this.#status(change) });
    if (!stdout.write(text)) await once(stdout, "drain");
  }

  #status({ size }: ScreenChange): string {
    const { session, isViewOnly } = this.#attaching;
    if (this.#note !== undefined) return ` ${sanitize(this.#note)}`;
    const what = `${session.session_id}  ${sanitize(session.command)}  ${size.columns}x${size.rows}`;
    // First what must be seen in the narrowest window.
    return ` Ctrl-] detaches  ${isViewOnly ? "view only  " : ""}${what}`;
  }
}

function toEnd(id: string, exitCode: number | null): string {
  return exitCode === null ? `${id} has ended` : `the program of ${id} has ended with exit code ${exitCode}`;
}

const ESC = "\u001b";

interface Drawing {
  readonly window: ViewWindow;
  /** The last line of the person's terminal, as plain text. */
  readonly status: string;
}

/** What makes the person's terminal show a change: rows from above, the line below them, then the cursor. */
function drawChange(change: ScreenChange, { window, status }: Drawing): string {
  const { isWhole, rows, cursor, keys } = change;
  const lines = rows.map(({ row, text }) => `${to(row, 0)}${ESC}[0m${ESC}[2K${text}`);
  const line = [...status].slice(0, window.columns).join("").padEnd(window.columns);
  return [
    // Shown at once, where a terminal can.
    `${ESC}[?2026h${ESC}[?25l`,
    isWhole ? `${ESC}[0m${ESC}[2J` : "",
    ...lines,
    `${to(window.rows, 0)}${ESC}[0;7m${line}${ESC}[0m`,
    `${ESC}[?1${keys.applicationCursor ? "h" : "l"}${ESC}[?2004${keys.bracketedPaste ? "h" : "l"}`,
    cursor === null ? "" : `${to(cursor.row, cursor.column)}${ESC}[?25h`,
    `${ESC}[?2026l`,
  ].join("");
}

function to(row: number, column: number): string {
  return `${ESC}[${row + 1};${column + 1}H`;
}

/** Another screen, so that what stood here comes back; no wrapping: rows are drawn whole. */
const TAKE = "\u001b[?1049h\u001b[?7l\u001b[2J";
/** Everything that this program may have changed, whatever it was. */
const GIVE_BACK = "\u001b[?2026l\u001b[?1l\u001b[?2004l\u001b[0m\u001b[?25h\u001b[?7h\u001b[?1049l";

const STDOUT = 1;

interface RawTerminal {
  /** May be called twice. */
  giveBack(): void;
}

/**
 * Takes the terminal of the person: every key comes as it is. It is given back on every way out of the process that a
 * program can see: the end of the command, a signal, a defect. (Only SIGKILL leaves it as it is.)
 */
function takeTerminal(stdin: ReadStream, stdout: WriteStream): RawTerminal {
  let isTaken = true;
  const giveBack = () => {
    if (!isTaken) return;
    isTaken = false;
    process.off("exit", giveBack);
    stdin.setRawMode(false);
    // At once: at the exit of the process nothing is written later.
    writeNow(GIVE_BACK);
  };
  process.on("exit", giveBack);
  stdin.setRawMode(true);
  stdout.write(TAKE);
  return { giveBack };
}

/** A terminal that is gone needs nothing back. */
function writeNow(text: string): void {
  try {
    writeSync(STDOUT, text);
  } catch {
    return;
  }
}
