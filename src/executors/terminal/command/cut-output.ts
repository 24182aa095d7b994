import { estimateTokens } from "../../../core/estimate-tokens.ts";

export interface CutOutput {
  readonly text: string;
  /** A part in the middle. Undefined: all is there. */
  readonly leftOut?: { readonly bytes: number; readonly lines: number; readonly offset: number };
}

export interface RawOutput {
  readonly offset: number;
  /** Its beginning and its end: the same bytes where all is kept. */
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly length: number;
}

/** No token is longer than this, on the average of a text. */
const MAX_BYTES_OF_TOKEN = 12;

/** What an output reads like, in so many tokens: where that is not enough, half from its beginning and half from its end. */
export function cutOutput({ offset, head, tail, length }: RawOutput, maxTokens: number): CutOutput {
  if (tail.length === length) {
    const text = toPlainText(tail.toString());
    if (estimateTokens(text, maxTokens) <= maxTokens) return { text };
  }
  const half = maxTokens / 2;
  const window = half * MAX_BYTES_OF_TOKEN;
  const first = takeMost(head.subarray(0, window), half, (bytes, size) => bytes.subarray(0, toEnd(bytes, size)));
  const last = takeMost(tail.subarray(-window), half, (bytes, size) =>
    bytes.subarray(toStart(bytes, bytes.length - size)),
  );
  const bytes = length - first.length - last.length;
  const from = Math.max(0, first.length - (length - tail.length));
  const lines = countLines(tail.subarray(from, tail.length - last.length));
  const leftOut = { bytes, lines, offset: offset + first.length };
  const note = `[${bytes} bytes, ${lines} lines left out; read from offset ${leftOut.offset}]`;
  const begin = toPlainText(first.toString()).replace(/\n$/, "");
  return { text: `${begin}\n${note}\n${toPlainText(last.toString())}`, leftOut };
}

function takeMost(bytes: Buffer, maxTokens: number, take: (bytes: Buffer, size: number) => Buffer): Buffer {
  let [least, most] = [0, bytes.length];
  while (least < most) {
    const size = Math.ceil((least + most) / 2);
    if (estimateTokens(toPlainText(take(bytes, size).toString()), maxTokens) <= maxTokens) least = size;
    else most = size - 1;
  }
  return take(bytes, least);
}

const NEWLINE = 10;

/** At the end of a line, if that is not far; never within a character. */
function toEnd(bytes: Buffer, size: number): number {
  const line = bytes.subarray(0, size).lastIndexOf(NEWLINE) + 1;
  if (line > size / 2) return line;
  let end = size;
  while (end > 0 && isInside(bytes[end])) end -= 1;
  return end;
}

function toStart(bytes: Buffer, from: number): number {
  const line = bytes.indexOf(NEWLINE, from) + 1;
  if (line > 0 && line - from < (bytes.length - from) / 2) return line;
  let start = from;
  while (isInside(bytes[start])) start += 1;
  return start;
}

function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

const ESC = "\\u001b";
const BEL = "\\u0007";
const PARTS = new RegExp(
  [
    `${ESC}\\[([0-?]*)[ -/]*([@-~])`,
    `${ESC}[\\]PX^_][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?`,
    `${ESC}[ -/]*[0-~]?`,
    "\\r*\\n",
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f]",
    "[^\\u0000-\\u0008\\u000a-\\u001f\\u007f]+",
  ].join("|"),
  "g",
);
/** Sequences after which a program goes on elsewhere on the screen. */
const MOVES = "ABEFHJdf";

/** Output as it reads: without colours, lines that were written over as they were at last, new lines where a program moves about. */
export function toPlainText(output: string): string {
  const lines: string[] = [];
  let line = "";
  let column = 0;
  const endLine = () => {
    lines.push(line);
    line = "";
    column = 0;
  };
  for (const [part, parameters = "", final] of output.matchAll(PARTS)) {
    const count = Number.parseInt(parameters, 10) || 1;
    if (part.endsWith("\n")) endLine();
    else if (part === "\r") column = 0;
    else if (part === "\b") column = Math.max(0, column - 1);
    else if (final === "C") column += count;
    else if (final === "D") column = Math.max(0, column - count);
    else if (final === "G") column = count - 1;
    else if (final === "K") line = erase(line, column, parameters);
    else if (final !== undefined ? MOVES.includes(final) : part === "\u001bc") {
      if (line !== "") endLine();
    } else if (part >= " " || part.startsWith("\t")) {
      if (column === line.length) line += part;
      else line = line.padEnd(column).slice(0, column) + part + line.slice(column + part.length);
      column += part.length;
    }
  }
  return [...lines, line].join("\n");
}

function erase(line: string, column: number, which: string): string {
  if (which === "2") return "";
  return which === "1" ? " ".repeat(column) + line.slice(column) : line.slice(0, column);
}
