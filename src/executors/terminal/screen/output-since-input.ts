import type { IBuffer, IMarker, Terminal } from "@xterm/headless";
import { EchoFilter, type ExpectedEcho, NO_ECHO } from "./echo.ts";
import { endOfText, readLines, readRows, startOfLine, withoutEmptyEnd } from "./screen-text.ts";

/** The modes that switch to a screen of its own and back. */
const ALTERNATE_SCREENS: readonly unknown[] = [47, 1047, 1049];

/** So much of the output since an input is kept, in UTF-16 units, even after it has left the screen. */
const KEPT_LENGTH = 1024 * 1024;

export interface RecentOutput {
  readonly text: string;
  /** The beginning was longer ago than is kept. */
  readonly isTruncated: boolean;
}

/** The program's output since the last input, as it reads on the screen: whole lines without control sequences and without the echo of the input. */
export class OutputSinceInput {
  readonly #terminal: Terminal;
  #echo: ExpectedEcho = NO_ECHO;
  #filter = new EchoFilter(NO_ECHO);
  /** The start of the part that is still in the model. */
  #begin: Place;
  #collected: string[] = [];
  #collectedLength = 0;
  #isTruncated = false;
  /** The rows of a full-screen program when the input came; what differs from them is output. */
  #rowsBefore: ReadonlySet<string> = new Set();
  /** In a full-screen program no place of the normal screen can be marked: it does not move until that ends. */
  #rowOnReturn: number | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#begin = this.#placeOfCursor();
    // Programs that clear the screen go on at its top, above the place where the input was.
    terminal.parser.registerCsiHandler({ final: "J" }, ([which]) => this.#cleared(which));
    terminal.parser.registerEscHandler({ final: "c" }, () => this.#reset());
    // What a full-screen program has shown is gone when it leaves, and stands after what came before it.
    terminal.parser.registerCsiHandler({ prefix: "?", final: "h" }, (modes) => this.#aboutToSwitch(modes, "normal"));
    terminal.parser.registerCsiHandler({ prefix: "?", final: "l" }, (modes) => this.#aboutToSwitch(modes, "alternate"));
    terminal.buffer.onBufferChange(({ type }) => this.#switched(type));
  }

  /** From here on it counts. */
  restart(echo: ExpectedEcho): void {
    this.#echo = echo;
    const isFull = this.#terminal.buffer.active.type === "alternate";
    // Input for a full-screen program does not show on the normal screen.
    this.#filter = new EchoFilter(isFull ? NO_ECHO : echo);
    this.#collected = [];
    this.#collectedLength = 0;
    this.#isTruncated = false;
    this.#begin.marker?.dispose();
    this.#begin = this.#placeOfCursor();
    const { active, normal } = this.#terminal.buffer;
    this.#rowsBefore = new Set(isFull ? readRows(active, 0, active.length) : []);
    this.#rowOnReturn = isFull ? normal.baseY + normal.cursorY : undefined;
  }

  /** Collects what can no longer change. To be called often enough that nothing leaves the model unseen. */
  collect(): void {
    const { active } = this.#terminal.buffer;
    if (active.type === "alternate") return;
    const from = this.#rowOfBegin();
    const to = startOfLine(active, active.baseY);
    if (to <= from) return;
    this.#add(readLines(active, from, to, this.#begin.column));
    this.#begin.marker?.dispose();
    const cursor = active.baseY + active.cursorY;
    this.#begin = { marker: this.#terminal.registerMarker(to - cursor), column: 0 };
  }

  read(): RecentOutput {
    const text = this.readEnd(KEPT_LENGTH);
    return { text, isTruncated: this.#isTruncated || this.#collectedLength > KEPT_LENGTH };
  }

  /** The same text, but of what has left the screen only about so much. */
  readEnd(length: number): string {
    this.collect();
    const filter = this.#filter.copy();
    const lines = this.#linesInModel();
    const output = lines.flatMap((line, index) => filter.take(line, index === lines.length - 1) ?? []);
    return withoutEmptyEnd([...this.#collectedEnd(length), ...output, ...this.#changedRows()]).join("\n");
  }

  #collectedEnd(length: number): readonly string[] {
    if (length >= this.#collectedLength) return this.#collected;
    let start = this.#collected.length;
    for (let left = length; start > 0 && left > 0; start -= 1) left -= (this.#collected[start - 1]?.length ?? 0) + 1;
    return this.#collected.slice(start);
  }

  #linesInModel(): string[] {
    const { normal } = this.#terminal.buffer;
    return readLines(normal, this.#rowOfBegin(), endOfText(normal), this.#begin.column);
  }

  /** A full-screen program repeats what is typed as well: where it is all that stands in a row. */
  #changedRows(): string[] {
    const { active } = this.#terminal.buffer;
    if (active.type !== "alternate") return [];
    const typed = new Set(this.#echo.lines.map(({ typed: { text } }) => text));
    const rows = readRows(active, 0, active.length);
    return rows.filter((row) => row !== "" && !this.#rowsBefore.has(row) && !typed.has(row));
  }

  #add(lines: readonly string[]): void {
    for (const line of lines) {
      const output = this.#filter.take(line, false);
      if (output === undefined) continue;
      this.#collected.push(output);
      this.#collectedLength += output.length + 1;
    }
    // Half at once: taking away one by one would cost as much as everything else.
    if (this.#collectedLength > 2 * KEPT_LENGTH) this.#dropOldest();
  }

  #dropOldest(): void {
    this.#collected = [...this.#collectedEnd(KEPT_LENGTH)];
    this.#collectedLength = this.#collected.reduce((sum, line) => sum + line.length + 1, 0);
    this.#isTruncated = true;
  }

  #rowOfBegin(): number {
    const { marker } = this.#begin;
    if (marker !== undefined && marker.line >= 0) return marker.line;
    if (this.#rowOnReturn !== undefined) return this.#rowOnReturn;
    if (marker === undefined) return 0;
    this.#isTruncated = true;
    return 0;
  }

  #placeOfCursor(): Place {
    const { normal } = this.#terminal.buffer;
    return { marker: this.#terminal.registerMarker(0), column: normal.cursorX };
  }

  #cleared(which: number | number[] | undefined): false {
    const { active } = this.#terminal.buffer;
    const isAll = which === 2 || which === 3 || (active.cursorX === 0 && active.cursorY === 0);
    if (isAll && active.type === "normal") this.#beginAtTop(active);
    else if (isAll) this.#addChangedRows();
    return false;
  }

  #aboutToSwitch(modes: readonly (number | number[])[], from: IBuffer["type"]): false {
    const { active } = this.#terminal.buffer;
    if (active.type !== from || !modes.some((mode) => ALTERNATE_SCREENS.includes(mode))) return false;
    if (from === "alternate") this.#addChangedRows();
    else {
      this.#add(withoutEmptyEnd(this.#linesInModel()));
      this.#begin.marker?.dispose();
      this.#begin = this.#placeOfCursor();
    }
    return false;
  }

  #addChangedRows(): void {
    this.#add(this.#changedRows());
    const { active } = this.#terminal.buffer;
    this.#rowsBefore = new Set([...this.#rowsBefore, ...readRows(active, 0, active.length)]);
  }

  /** Nothing is left of the model after this, nor of its markers. */
  #reset(): false {
    this.#addChangedRows();
    this.#add(withoutEmptyEnd(this.#linesInModel()));
    this.#begin.marker?.dispose();
    this.#begin = { marker: undefined, column: 0 };
    this.#rowOnReturn = undefined;
    return false;
  }

  #beginAtTop(buffer: IBuffer): void {
    this.#add(withoutEmptyEnd(this.#linesInModel()));
    this.#begin.marker?.dispose();
    this.#begin = { marker: this.#terminal.registerMarker(-buffer.cursorY), column: 0 };
  }

  #switched(type: IBuffer["type"]): void {
    if (type === "alternate" || this.#rowOnReturn === undefined) return;
    const { active } = this.#terminal.buffer;
    const marker = this.#terminal.registerMarker(this.#rowOnReturn - active.baseY - active.cursorY);
    this.#begin = { marker, column: this.#begin.column };
    this.#rowOnReturn = undefined;
  }
}

interface Place {
  readonly marker: IMarker | undefined;
  readonly column: number;
}
