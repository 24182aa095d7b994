import type { IBuffer, IBufferCell, IParser, Terminal } from "@xterm/headless";
import { endOfText, readLines, readRows, startOfLine, withoutEmptyEnd } from "./screen-text.ts";

/** More of a title is not kept: it is text from outside. */
const MAX_TITLE_LENGTH = 200;

/** The screen of a terminal with the rows above it: a model that understands what programs send. */
export class TerminalScreen {
  readonly #terminal: Terminal;
  readonly #modes: PrivateModes;
  #title = "";

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#modes = new PrivateModes(terminal.parser);
    terminal.onTitleChange((title) => {
      this.#title = title.slice(0, MAX_TITLE_LENGTH);
    });
  }

  get title(): string {
    return this.#title;
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  /** The position of the cursor, from 0 on. */
  get column(): number {
    return this.#terminal.buffer.active.cursorX;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  /** The position of the cursor, from 0 on. */
  get row(): number {
    return this.#terminal.buffer.active.cursorY;
  }

  get isCursorVisible(): boolean {
    return this.#modes.isCursorVisible;
  }

  /** Whether arrow keys are to be sent in their other form. */
  get wantsApplicationKeys(): boolean {
    return this.#terminal.modes.applicationCursorKeysMode;
  }

  /** How the program wants to be told of the mouse. Undefined: not at all. */
  get mouse(): "sgr" | "plain" | undefined {
    if (this.#terminal.modes.mouseTrackingMode === "none") return undefined;
    return this.#modes.mouseEncoding === SGR ? "sgr" : "plain";
  }

  /** Whether pasted text is to be marked as such. */
  get wantsBracketedPaste(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }

  /** The screen as it stands, without empty lines at its end. */
  readScreen(): string {
    const buffer = this.#terminal.buffer.active;
    return joined(readRows(buffer, buffer.baseY, buffer.baseY + this.#terminal.rows));
  }

  /** The rows above the screen, as far as they are kept, then the screen. Lines are whole. */
  readHistory(): string {
    return joined(this.#lines());
  }

  readTail(lineCount: number): string {
    return withoutEmptyEnd(this.#lines()).slice(-lineCount).join("\n");
  }

  /** The line of the cursor up to it: a prompt and what has been typed at it. */
  readCursorLine(): string {
    const buffer = this.#terminal.buffer.active;
    const row = buffer.baseY + buffer.cursorY;
    const before = readLines(buffer, startOfLine(buffer, row), row).join("");
    return before + (buffer.getLine(row)?.translateToString(false, 0, buffer.cursorX) ?? "");
  }

  /** A text that makes another terminal of this size show the same. */
  serialize(): string {
    return serializeScreen(this.#terminal) + serializeModes(this.#terminal, this.#modes);
  }

  /** A part of a row of the screen as characters and colours. */
  serializeRow(row: number, columns: { readonly from: number; readonly to: number }): string {
    const buffer = this.#terminal.buffer.active;
    return serializeRow(buffer, buffer.baseY + row, columns);
  }

  #lines(): string[] {
    const { normal, active } = this.#terminal.buffer;
    const lines = readLines(normal, 0, endOfText(normal));
    return active === normal || active.type === "normal" ? lines : [...lines, ...readRows(active, 0, active.length)];
  }
}

function joined(lines: readonly string[]): string {
  return withoutEmptyEnd(lines).join("\n");
}

const MOUSE_TRACKING = { none: undefined, x10: 9, vt200: 1000, drag: 1002, any: 1003 } as const;

/** Sequences that set an empty terminal to the modes of another, without moving the cursor. Scroll margins and pen colour are unknown. */
function serializeModes({ modes }: Terminal, hidden: PrivateModes): string {
  const on = [
    modes.applicationCursorKeysMode ? 1 : undefined,
    modes.applicationKeypadMode ? 66 : undefined,
    modes.bracketedPasteMode ? 2004 : undefined,
    modes.reverseWraparoundMode ? 45 : undefined,
    MOUSE_TRACKING[modes.mouseTrackingMode],
    hidden.mouseEncoding,
  ].filter((mode) => mode !== undefined);
  const off = [modes.wraparoundMode ? undefined : 7, hidden.isCursorVisible ? undefined : 25].filter(
    (mode) => mode !== undefined,
  );
  return (
    [...on.map((mode) => `\u001b[?${mode}h`), ...off.map((mode) => `\u001b[?${mode}l`)].join("") +
    (modes.insertMode ? "\u001b[4h" : "")
  );
}

/** The model knows these and does not tell. */
const CURSOR_VISIBLE = 25;
const SGR = 1006;
const MOUSE_ENCODINGS: readonly number[] = [SGR, 1016];

/** Modes that a program has set and the model of the screen does not report: the visible cursor, the kind of mouse reports. */
class PrivateModes {
  #isCursorVisible = true;
  #mouseEncoding: number | undefined;

  constructor(parser: IParser) {
    parser.registerCsiHandler({ prefix: "?", final: "h" }, (params) => this.#set(params, true));
    parser.registerCsiHandler({ prefix: "?", final: "l" }, (params) => this.#set(params, false));
    parser.registerCsiHandler({ intermediates: "!", final: "p" }, () => this.#reset());
    parser.registerEscHandler({ final: "c" }, () => this.#reset());
  }

  get isCursorVisible(): boolean {
    return this.#isCursorVisible;
  }

  /** The number of the mode. Undefined: as terminals do without one. */
  get mouseEncoding(): number | undefined {
    return this.#mouseEncoding;
  }

  /** False: the model takes it in as well. */
  #set(params: readonly (number | number[])[], isOn: boolean): false {
    for (const param of params) {
      if (typeof param !== "number") continue;
      if (param === CURSOR_VISIBLE) this.#isCursorVisible = isOn;
      if (MOUSE_ENCODINGS.includes(param)) this.#mouseEncoding = isOn ? param : undefined;
    }
    return false;
  }

  #reset(): false {
    this.#isCursorVisible = true;
    this.#mouseEncoding = undefined;
    return false;
  }
}

const ESC = "\u001b";
/** Rows above the screen that a new view gets; it does not need all of them. */
const HISTORY_ROWS = 500;

/** A text that makes a fresh terminal of the same size show the same: characters, colours and the cursor's place. */
function serializeScreen(terminal: Terminal): string {
  const { normal, active } = terminal.buffer;
  const parts = [serializeBuffer(normal, terminal)];
  if (active.type === "alternate") parts.push(`${ESC}[?1049h${ESC}[H`, serializeBuffer(active, terminal));
  return parts.join("");
}

function serializeBuffer(buffer: IBuffer, { rows, cols }: Terminal): string {
  const first = Math.max(0, buffer.baseY - HISTORY_ROWS);
  let text = "";
  for (let row = first; row < buffer.baseY + rows; row += 1) {
    const goesOn = buffer.getLine(row + 1)?.isWrapped === true && row + 1 < buffer.baseY + rows;
    text += serializeRow(buffer, row, { from: 0, to: cols });
    // A row that is full goes on by itself in the next one.
    if (!goesOn && row + 1 < buffer.baseY + rows) text += "\r\n";
  }
  return `${text}${ESC}[${buffer.cursorY + 1};${buffer.cursorX + 1}H`;
}

interface Columns {
  readonly from: number;
  readonly to: number;
}

/** The text in some columns of a row, without empty cells at its end. */
function serializeRow(buffer: IBuffer, row: number, { from, to }: Columns): string {
  const line = buffer.getLine(row);
  const end = lastWritten(buffer, row, to);
  let text = "";
  let style = "";
  for (let column = from; column < end; column += 1) {
    const cell = line?.getCell(column);
    const width = cell?.getWidth() ?? 0;
    // The second half of a wide character; at the edge, half of one is a blank.
    if (cell === undefined || (width === 0 && column > from)) continue;
    const next = styleOf(cell);
    if (next !== style) text += `${ESC}[0${next}m`;
    style = next;
    text += (width > 0 && column + width <= to && cell.getChars()) || " ";
  }
  return style === "" ? text : `${text}${ESC}[0m`;
}

function lastWritten(buffer: IBuffer, row: number, columns: number): number {
  const line = buffer.getLine(row);
  for (let column = columns - 1; column >= 0; column -= 1) {
    const cell = line?.getCell(column);
    if (cell !== undefined && (cell.getChars() !== "" || !cell.isBgDefault() || cell.isInverse() !== 0))
      return column + Math.max(cell.getWidth(), 1);
  }
  return 0;
}

function styleOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return "";
  const flags: readonly (readonly [number, number])[] = [
    [1, cell.isBold()],
    [2, cell.isDim()],
    [3, cell.isItalic()],
    [4, cell.isUnderline()],
    [5, cell.isBlink()],
    [7, cell.isInverse()],
    [8, cell.isInvisible()],
    [9, cell.isStrikethrough()],
    [53, cell.isOverline()],
  ];
  const set = flags.filter(([, isSet]) => isSet !== 0).map(([code]) => `;${code}`);
  return set.join("") + colourOf(cell, "foreground") + colourOf(cell, "background");
}

function colourOf(cell: IBufferCell, which: "foreground" | "background"): string {
  const isFront = which === "foreground";
  const colour = isFront ? cell.getFgColor() : cell.getBgColor();
  const code = isFront ? 38 : 48;
  if (isFront ? cell.isFgRGB() : cell.isBgRGB())
    return `;${code};2;${(colour >> 16) & 255};${(colour >> 8) & 255};${colour & 255}`;
  return (isFront ? cell.isFgPalette() : cell.isBgPalette()) ? `;${code};5;${colour}` : "";
}

/** A sequence that is longer than this is no sequence any more. */
const MAX_LENGTH = 4_096;

const ESCAPE = "\\u001b";
const BELL = "\\u0007";
/** From the escape on: what a final character, or the end mark of a text, has not come for. */
const UNFINISHED = new RegExp(`^${ESCAPE}(?:[ -/]*|\\[[0-?]*[ -/]*|[\\]PX^_][^${BELL}${ESCAPE}]*${ESCAPE}?)$`);

/** The beginning of an escape sequence at the end of a text whose end is still to come; else nothing. */
export function unfinishedSequence(text: string): string {
  const end = text.slice(-MAX_LENGTH);
  const last = end.lastIndexOf("\u001b");
  if (last === -1) return "";
  // The end mark of a text begins with an escape itself.
  const before = end.lastIndexOf("\u001b", last - 1);
  for (const from of last > 0 && before !== -1 ? [before, last] : [last]) {
    const rest = end.slice(from);
    if (UNFINISHED.test(rest)) return rest;
  }
  return "";
}
