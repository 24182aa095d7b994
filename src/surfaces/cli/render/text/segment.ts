import type { Paint, Style } from "./paint.ts";
import { truncate, widthOf } from "./text-width.ts";

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
