import type { Paint } from "./paint.ts";
import { padEnd, padStart, renderSegments, type Segment, widthOf } from "./text-width.ts";

export interface Column {
  readonly title: string;
  readonly align?: "right" | undefined;
}

/** Cells are sanitized text. Lines are cut to the width of the terminal, where one is given. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Segment[])[],
  { paint, width = Number.POSITIVE_INFINITY }: { readonly paint: Paint; readonly width?: number | undefined },
): string {
  const widths = widthsOf(columns, rows);
  const head = columns.map(({ title }): Segment => ({ text: title, style: "dim" }));
  return [head, ...rows]
    .map((row) => renderSegments(alignRow(row, columns, widths), width, paint).trimEnd())
    .join("\n");
}

/** Columns of a terminal that shows all of it. */
export function tableWidth(columns: readonly Column[], rows: readonly (readonly Segment[])[]): number {
  return widthsOf(columns, rows).reduce((sum, width, index) => sum + width + (index === 0 ? 0 : GAP.length), 0);
}

const GAP = "  ";

function widthsOf(columns: readonly Column[], rows: readonly (readonly Segment[])[]): readonly number[] {
  return columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[index]?.text ?? ""))),
  );
}

function alignRow(row: readonly Segment[], columns: readonly Column[], widths: readonly number[]): Segment[] {
  return row.flatMap((cell, index) => {
    const width = widths[index] ?? 0;
    const text = columns[index]?.align === "right" ? padStart(cell.text, width) : padEnd(cell.text, width);
    return [{ text: index === 0 ? "" : GAP }, { ...cell, text }];
  });
}
