import type { RunSummary } from "../../../operations/runs/run-schemas.ts";
import { shortId } from "../short-id.ts";
import { formatDuration } from "./format-duration.ts";
import { formatTime } from "./format-time.ts";
import { formatUsd } from "./format-usd.ts";
import type { Paint } from "./paint.ts";
import { sanitize } from "./sanitize.ts";
import type { Segment } from "./segment.ts";
import { statusSign, statusStyle } from "./status-sign.ts";
import { renderTable, tableWidth } from "./table.ts";

export interface PageOptions {
  readonly paint: Paint;
  readonly now: number;
  /** Columns of the terminal; absent where the text goes elsewhere. */
  readonly width?: number | undefined;
}

/** The table of `pawl runs ls`. */
export function renderRuns(runs: readonly RunSummary[], { paint, now, width }: PageOptions): string {
  if (runs.length === 0) return "No runs.";
  const columns = [
    { title: "" },
    { title: "RUN" },
    { title: "WORKFLOW" },
    { title: "STATUS" },
    { title: "CREATED" },
    { title: "TIME", align: "right" } as const,
    { title: "COST", align: "right" } as const,
  ];
  const toRow = (run: RunSummary, id: string): Segment[] => [
    statusSign(run.status),
    { text: id },
    { text: sanitize(run.workflow_name) },
    { text: run.status.replaceAll("_", " "), style: statusStyle(run.status) },
    { text: formatTime(Date.parse(run.created_at), now) },
    { text: timeOf(run, now) },
    { text: formatUsd(run.total_cost_usd) },
  ];
  const whole = runs.map((run) => toRow(run, run.run_id));
  const fits = width === undefined || tableWidth(columns, whole) <= width;
  // What names a run is worth less than what became of it.
  const rows = fits ? whole : runs.map((run) => toRow(run, shortId(run.run_id)));
  return renderTable(columns, rows, { paint, width });
}

export function timeOf(
  { started_at, completed_at }: Pick<RunSummary, "started_at" | "completed_at">,
  now: number,
): string {
  if (started_at === null) return "";
  return formatDuration((completed_at === null ? now : Date.parse(completed_at)) - Date.parse(started_at));
}
