import type { IBuffer, IBufferLine } from "@xterm/headless";

/** Rows as they stand on the screen. */
export function readRows(buffer: IBuffer, from: number, to: number): string[] {
  const rows: string[] = [];
  for (let row = Math.max(from, 0); row < Math.min(to, buffer.length); row += 1) rows.push(readRow(buffer, row));
  return rows;
}

/** Lines as the program wrote them: what the edge of the screen has broken is put together again. */
export function readLines(buffer: IBuffer, from: number, to: number, firstColumn = 0): string[] {
  const lines: string[] = [];
  const first = Math.max(from, 0);
  const end = Math.min(to, buffer.length);
  for (let row = first; row < end; row += 1) {
    const line = buffer.getLine(row);
    if (line === undefined) continue;
    const text = line.translateToString(true, row === from ? firstColumn : 0);
    if (line.isWrapped && row > first) lines.push(withoutFiller(lines.pop() ?? "", line) + text);
    else lines.push(text);
  }
  return lines;
}

/** A wide character that does not fit leaves a column free; some programs write a space there. */
function withoutFiller(before: string, next: IBufferLine): string {
  const isFiller = before.endsWith(" ") && next.getCell(0)?.getWidth() === 2;
  return isFiller ? before.slice(0, -1) : before;
}

function isWrapped(buffer: IBuffer, row: number): boolean {
  return buffer.getLine(row)?.isWrapped ?? false;
}

/** The row at which the line begins that goes on in this one. */
export function startOfLine(buffer: IBuffer, row: number): number {
  let start = row;
  while (start > 0 && isWrapped(buffer, start)) start -= 1;
  return start;
}

/** The row after the last one with text, and after the cursor's. */
export function endOfText(buffer: IBuffer): number {
  const cursor = buffer.baseY + buffer.cursorY;
  let end = buffer.length;
  while (end > cursor + 1 && readRow(buffer, end - 1) === "") end -= 1;
  return end;
}

export function withoutEmptyEnd(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  while (end > 0 && lines[end - 1]?.trim() === "") end -= 1;
  return lines.slice(0, end);
}

function readRow(buffer: IBuffer, row: number): string {
  return buffer.getLine(row)?.translateToString(true) ?? "";
}
