import { createRequire } from "node:module";
import type { Paint, Style } from "./paint.ts";

/** Columns that plain text takes on a terminal. */
export function widthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth()(text);
}

/** Loaded with the first text that is not ASCII: its tables take longer to build than a short command to run. */
function stringWidth() {
  const { default: width } = createRequire(import.meta.url)("string-width") as typeof import("string-width");
  return width;
}

/** Plain text cut to so many columns, with `…` where something is missing. */
export function truncate(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns <= 0) return "";
  let kept = "";
  let width = 0;
  for (const char of text) {
    width += widthOf(char);
    if (width > columns - 1) break;
    kept += char;
  }
  return `${kept}…`;
}

export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

export function padStart(text: string, columns: number): string {
  return " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}

/** A piece of a line. It is measured before it is painted, since colour has no width. */
export interface Segment {
  readonly text: string;
  readonly style?: Style;
}

/** One line of at most so many columns. */
export function renderSegments(segments: readonly Segment[], columns: number, paint: Paint): string {
  let left = columns;
  let line = "";
  for (const { text, style } of segments) {
    const shown = truncate(text, left);
    line += style === undefined ? shown : paint(style, shown);
    left -= widthOf(shown);
    if (shown !== text) break;
  }
  return line;
}
