import { writeExact } from "../../../core/exact-json.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import { isJsonObject, isNumber, type Json, type JsonObject } from "../../../core/json.ts";
import type { RunHead } from "../../../operations/runs/run-schemas.ts";
import { type Format, hasLiveTerminal, paintFor } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { io } from "../process-io.ts";
import type { LiveNotice } from "../render/live/live-run.ts";
import type { LiveView } from "../render/live/live-view.ts";
import { renderError } from "../render/pages/render-error.ts";
import { shortId } from "../render/text/formats.ts";
import { type Paint, wantsColor } from "../render/text/paint.ts";
import { sanitize } from "../render/text/sanitize.ts";
import { type Column, renderTable } from "../render/text/table.ts";
import { type Segment, truncate } from "../render/text/text-width.ts";
import type { Voice } from "../voice.ts";

/** Shows one run while it goes on: live for people, as data for programs. */
export interface RunPrinter {
  /** Notices that come before are kept until then. Once more after `clear`. */
  begin(graph: Graph, runId: string): void;
  notice(notice: LiveNotice): void;
  end(run: RunHead): void;
  /** Leaves the terminal to what is written next. */
  clear(): void;
}

export async function openRunPrinter(format: Format, voice: Voice): Promise<RunPrinter> {
  return format === "text" ? openLivePrinter(voice) : dataPrinter(format);
}

function dataPrinter(format: "json" | "lines"): RunPrinter {
  return {
    begin: () => undefined,
    notice: (notice) => {
      if (format === "lines" && notice.type === "event") print(writeExact({ seq: notice.seq, event: notice.event }));
    },
    end: printEnvelope,
    clear: () => undefined,
  };
}

async function openLivePrinter(voice: Voice): Promise<RunPrinter> {
  const { LiveView: View } = await import("../render/live/live-view.ts");
  const stream = io().stderr;
  const color = wantsColor({ isTty: stream.isTTY === true, env: io().env });
  let view: LiveView | undefined;
  const early: LiveNotice[] = [];
  const clear = () => {
    voice.speakThrough(undefined);
    view?.clear();
  };
  return {
    begin: (graph, runId) => {
      const live = view ?? new View(graph, runId, { stream, isTty: hasLiveTerminal(), color, now: () => Date.now() });
      view = live;
      voice.speakThrough((line) => live.say(line));
      for (const notice of early.splice(0)) live.notice(notice);
    },
    notice: (notice) => {
      if (view === undefined) early.push(notice);
      else view.notice(notice);
    },
    end: (run) => {
      clear();
      if (run.completed_at !== null) printOutputs(run);
      if (run.error !== null) voice.say(renderError(run.error, paintFor(stream)));
    },
    clear,
  };
}

/** At a terminal as a table, where they are one. Programs get JSON on stdout, and people beside them the table on stderr. */
function printOutputs({ run_id: runId, outputs, error }: RunHead): void {
  // A run that ended early has nothing to say: `null` would be taken for its answer.
  if (outputs === null && error !== null) return;
  const { stdout, stderr } = process;
  const stream = stdout.isTTY === true ? stdout : stderr;
  const table = renderOutputs(outputs, { paint: paintFor(stream), width: stream.isTTY ? stream.columns : undefined });
  if (stream === stderr || table === undefined) print(writeExact(outputs, 2));
  if (table === undefined) return;
  if (stream === stdout) print(table);
  else tell(table);
  tell(`All outputs: pawl runs show ${shortId(runId)} --json`);
}

const MAX_ROWS = 50;
const MAX_CELL_WIDTH = 60;

/**
 * The result of a run as a table: of the outputs that are lists of flat objects the last one, since steps stand in their
 * order. Undefined: none of them is such a list.
 */
export function renderOutputs(
  outputs: Json,
  options: { readonly paint: Paint; readonly width?: number | undefined },
): string | undefined {
  const lists: readonly Json[] = isJsonObject(outputs) ? Object.values(outputs) : [outputs];
  const rows = lists.findLast(isTable);
  if (rows === undefined) return undefined;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name): Column => {
    const isNumeric = rows.every((row) => isNumber(row[name]));
    return { title: sanitize(name), ...(isNumeric ? { align: "right" } : {}) };
  });
  const cells = rows.slice(0, MAX_ROWS).map((row) => names.map((name): Segment => ({ text: toCell(row[name]) })));
  const rest = rows.length - cells.length;
  return [renderTable(columns, cells, options), ...(rest > 0 ? [`... and ${rest} more rows`] : [])].join("\n");
}

function isTable(value: Json): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFlat);
}

function isFlat(value: Json): value is JsonObject {
  return isJsonObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isShort);
}

/** A single value, or a list of such. */
function isShort(value: Json): boolean {
  const items: readonly Json[] = Array.isArray(value) ? value : [value];
  return items.every((item) => typeof item !== "object" || item === null);
}

function toCell(value: Json | undefined): string {
  const items: readonly Json[] = Array.isArray(value) ? value : [value ?? ""];
  return truncate(sanitize(items.map(String).join(", ")), MAX_CELL_WIDTH);
}
