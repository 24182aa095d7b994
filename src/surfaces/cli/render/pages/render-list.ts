import type { Json } from "../../../../core/json.ts";
import type { Cell, Table } from "../../../../operations/operation.ts";
import { formatDuration, formatTime, formatUsd, shortId } from "../text/formats.ts";
import type { PageOptions } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";
import { statusSign, statusStyle } from "../text/status-sign.ts";
import { type Column, renderTable, tableWidth } from "../text/table.ts";
import type { Segment } from "../text/text-width.ts";

/** A list as the description of its columns says. */
export function renderList(table: Table, items: readonly Json[], { paint, now, width }: PageOptions): string {
  const rows = items.flatMap((item) => [table.columns(item, now)].flat().map((row) => Object.entries(row)));
  const [first] = rows;
  if (first === undefined) return table.empty;
  const columns = first.map(
    ([title]): Column => ({ title: title.trim(), align: table.right?.includes(title) === true ? "right" : undefined }),
  );
  const render = (isWide: boolean) => rows.map((row) => row.map(([, cell]) => toSegment(cell, { now, isWide })));
  const whole = render(true);
  // What names a thing is worth less than what became of it.
  const fits = width === undefined || tableWidth(columns, whole) <= width;
  return renderTable(columns, fits ? whole : render(false), { paint, width });
}

interface Look {
  readonly now: number;
  /** Whole ids fit. */
  readonly isWide: boolean;
}

function toSegment(cell: Cell, { now, isWide }: Look): Segment {
  if (cell === null) return { text: "" };
  if (typeof cell !== "object") return { text: sanitize(String(cell)) };
  if ("id" in cell) return { text: cell.id === null ? "" : isWide && cell.whole === true ? cell.id : shortId(cell.id) };
  if ("time" in cell) {
    if (cell.time === null) return { text: cell.never ?? "" };
    const time = formatTime(Date.parse(cell.time), now);
    return { text: cell.label === undefined ? time : `${cell.label} ${time}` };
  }
  if ("usd" in cell) return { text: cell.usd === null ? "" : formatUsd(cell.usd, cell), ...styleOf(cell) };
  if ("text" in cell) return { text: sanitize(String(cell.text)), ...styleOf(cell) };
  if ("ms" in cell) return { text: cell.ms === null ? "" : formatDuration(cell.ms) };
  if ("sign" in cell) return statusSign(cell.sign);
  return { text: sanitize(cell.status.replaceAll("_", " ")), style: statusStyle(cell.status) };
}

function styleOf({ warns }: { readonly warns?: boolean }): Pick<Segment, "style"> {
  return warns === true ? { style: "yellow" } : {};
}
