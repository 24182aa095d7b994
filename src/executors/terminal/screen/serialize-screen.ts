import type { IBuffer, IBufferCell, Terminal } from "@xterm/headless";

const ESC = "\u001b";
/** Rows above the screen that a new view gets; it does not need all of them. */
const HISTORY_ROWS = 500;

/** A text that makes a fresh terminal of the same size show the same: characters, colours and the cursor's place. */
export function serializeScreen(terminal: Terminal): string {
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
export function serializeRow(buffer: IBuffer, row: number, { from, to }: Columns): string {
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
    if (cell !== undefined && (cell.getChars() !== "" || !cell.isBgDefault() || cell.isInverse() !== 0)) {
      return column + Math.max(cell.getWidth(), 1);
    }
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
  if (isFront ? cell.isFgRGB() : cell.isBgRGB()) {
    return `;${code};2;${(colour >> 16) & 255};${(colour >> 8) & 255};${colour & 255}`;
  }
  return (isFront ? cell.isFgPalette() : cell.isBgPalette()) ? `;${code};5;${colour}` : "";
}
