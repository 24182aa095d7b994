import { type Instance, SINGLE_ITEM } from "../../../../core/history/run-state.ts";
import { awaitsTurn } from "../../../../core/interpreter/attempt/crashes.ts";
import { timerOf } from "../../../../core/interpreter/timers.ts";
import { triesOf } from "../../../../operations/runs/describe/describe-run-history.ts";
import type { StepStatus } from "../../../../operations/runs/run-schemas.ts";
import { formatBudget, formatDuration, formatTime, formatUsd } from "../text/formats.ts";
import type { Paint } from "../text/paint.ts";
import { sanitize, showPath } from "../text/sanitize.ts";
import { showBudgetWait, showRetry, showSuspect, showWait } from "../text/show-wait.ts";
import { statusSign, statusStyle } from "../text/status-sign.ts";
import { padEnd, renderSegments, type Segment, truncate, widthOf } from "../text/text-width.ts";
import type { LiveLine } from "./live-line.ts";
import type { LiveRun } from "./live-run.ts";

interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

export interface FrameOptions extends FrameSize {
  readonly now: number;
  readonly paint: Paint;
}

/** The whole picture of a run at one moment: never wider or higher than the terminal. */
export function renderFrame(run: LiveRun, options: FrameOptions): string {
  const { columns, paint } = options;
  // The last column stays free: some terminals break the line when it is written.
  const width = Math.max(1, columns - 1);
  const shown = chooseLines(run, options);
  const idWidth = widthOfIds(shown.lines, width);
  const lines = shown.lines.map((line) =>
    renderSegments(lineSegments(run, line, { ...options, idWidth }), width, paint),
  );
  const more = shown.hidden === 0 ? [] : [paint("dim", truncate(`… and ${shown.hidden} more`, width))];
  const notes = noteSegments(run, options.now).map((note) => renderSegments([note], width, paint));
  return [renderSegments(headSegments(run, options.now), width, paint), ...lines, ...more, ...notes].join("\n");
}

function headSegments({ run, history, status }: LiveRun, now: number): Segment[] {
  const { state, finishedAt } = history;
  const elapsedMs = (finishedAt ?? now) - state.startedAt;
  const usd = formatBudget(state.budget);
  const hasBegun = state.phase !== "new";
  return [
    { text: sanitize(run.workflow_name), style: "bold" },
    { text: "  " },
    { text: status.replaceAll("_", " "), style: statusStyle(status) },
    { text: `  ${usd}${hasBegun ? `  ${formatDuration(elapsedMs)}` : ""}` },
    { text: `  ${run.run_id}`, style: "dim" },
  ];
}

function noteSegments(run: LiveRun, now: number): Segment[] {
  const { isLost, stalled, waits } = run;
  const rests = isRunOver(run) || run.isParked;
  const notes: Segment[] = rests ? [] : [...waits.values()].map((wait) => toNote(showWait(wait, now)));
  if (!rests && run.waitingForBudget > 0) notes.push(toNote(showBudgetWait(run.waitingForBudget)));
  if (stalled !== undefined) {
    notes.push({
      text: `Nothing can be written, the run stands still: ${stalled.code} ${sanitize(stalled.message)}`,
      style: "red",
    });
  }
  if (isLost)
    notes.push({ text: "This view has missed something; see the run with `pawl runs show`.", style: "yellow" });
  return notes;
}

function toNote(text: string): Segment {
  return { text, style: "yellow" };
}

interface Chosen {
  readonly lines: readonly LiveLine[];
  readonly hidden: number;
}

/** All lines where they fit; else what a person is asked, what goes on and what failed first, then what ended last, then what is to come. */
function chooseLines(run: LiveRun, { rows, now }: FrameOptions): Chosen {
  const all = flatten(run.lines);
  const room = Math.max(1, rows - 2 - noteSegments(run, now).length);
  if (all.length <= room) return { lines: all, hidden: 0 };
  const isOver = isRunOver(run);
  const ranked = all.map((line) => ({ line, rank: rankOf(line.status(isOver)), endedAt: line.endedAt ?? 0 }));
  ranked.sort((a, b) => a.rank - b.rank || b.endedAt - a.endedAt);
  const chosen = new Set(ranked.slice(0, room - 1).map(({ line }) => line));
  return { lines: all.filter((line) => chosen.has(line)), hidden: all.length - chosen.size };
}

function rankOf(status: StepStatus): number {
  switch (status) {
    case "awaiting_approval":
    case "held":
      return 0;
    case "running":
    case "retrying":
    case "waiting":
      return 1;
    case "failed":
      return 2;
    case "completed":
    case "cancelled":
      return 3;
    case "pending":
    case "skipped":
      return 4;
  }
}

function flatten(lines: readonly LiveLine[]): LiveLine[] {
  return lines.flatMap((line) => [line, ...[...line.inner.values()].flatMap(flatten)]);
}

function isRunOver({ history }: LiveRun): boolean {
  return history.state.phase === "finished";
}

const INDENT = 2;

function widthOfIds(lines: readonly LiveLine[], columns: number): number {
  const widest = Math.max(0, ...lines.map((line) => line.depth * INDENT + widthOf(sanitize(line.id))));
  return Math.min(widest, Math.max(8, Math.floor(columns * 0.4)));
}

interface LineOptions {
  readonly now: number;
  readonly idWidth: number;
}

function lineSegments(run: LiveRun, line: LiveLine, { now, idWidth }: LineOptions): Segment[] {
  const status = line.status(isRunOver(run));
  const indent = " ".repeat(line.depth * INDENT);
  const id = padEnd(truncate(indent + sanitize(line.id), idWidth), idWidth);
  const isIdle = status === "pending" || status === "skipped";
  return [
    statusSign(status),
    isIdle ? { text: ` ${id}`, style: "dim" } : { text: ` ${id}` },
    ...(line.count.isFanOut ? fanOutSegments(line) : []),
    ...timeSegments(line, status, now),
    ...costSegments(line),
    ...(line.count.isFanOut ? [] : tryNumberSegments(line)),
    ...detailSegments(run, line, status, now),
  ];
}

const BAR_CELLS = 10;

function fanOutSegments(line: LiveLine): Segment[] {
  const { total, settled } = line.count;
  const filled = total === 0 ? BAR_CELLS : Math.floor((settled / total) * BAR_CELLS);
  const failed = line.ended("failed");
  const retrying = line.liveCount("retrying");
  return [
    { text: "  " },
    { text: "▇".repeat(filled), style: "green" },
    { text: "▁".repeat(BAR_CELLS - filled), style: "dim" },
    { text: ` ${settled}/${total}` },
    ...(failed === 0 ? [] : [{ text: ` ✗${failed}`, style: "red" } as const]),
    ...(retrying === 0 ? [] : [{ text: ` ↻${retrying}`, style: "yellow" } as const]),
  ];
}

function timeSegments({ startedAt, endedAt, live, visits }: LiveLine, status: StepStatus, now: number): Segment[] {
  if (startedAt === undefined || status === "pending" || status === "skipped") return [];
  const end = live.size > 0 || status === "running" ? now : (endedAt ?? now);
  const times = visits > 1 ? `  #${visits}` : "";
  return [{ text: `${times}  ${formatDuration(end - startedAt)}` }];
}

function costSegments(line: LiveLine): Segment[] {
  const { costMicro, isUnpriced } = line;
  if (costMicro === 0 && !isUnpriced) return [];
  return [{ text: `  ${formatUsd(costMicro / 1_000_000, { unpriced: isUnpriced })}` }];
}

function tryNumberSegments(line: LiveLine): Segment[] {
  const [only] = line.live;
  const tries = only === undefined ? line.lastTries : triesOf(only);
  return tries > 1 ? [{ text: `  try ${tries}`, style: "yellow" }] : [];
}

/** Why it failed, or what it waits for. */
function detailSegments(run: LiveRun, line: LiveLine, status: StepStatus, now: number): Segment[] {
  switch (status) {
    case "failed":
    case "retrying":
      return failureSegments(run, line, status, now);
    case "waiting":
    case "awaiting_approval":
      return waitSegments(run, line, status, now);
    case "running":
      return runningSegments(run, line, status, now);
    case "held":
      return suspectSegments(findLive(line, "held"));
    case "pending":
    case "completed":
    case "skipped":
    case "cancelled":
      return [];
  }
}

function runningSegments(run: LiveRun, line: LiveLine, status: StepStatus, now: number): Segment[] {
  const suspect = someLive(line, awaitsTurn);
  if (suspect !== undefined) return suspectSegments(suspect);
  const retries = run.retries.size === 0 ? [] : ofLine(run.retries, line);
  const [, retry] = retries[0] ?? [];
  const more = retries.length > 1 ? ` (and ${retries.length - 1} more)` : "";
  if (retry !== undefined) return [{ text: `  ${showRetry(retry, now)}${more}`, style: "yellow" }];
  if (line.lastFailure !== undefined && line.count.isFanOut) return failureSegments(run, line, status, now);
  const [path, doing = ""] = (run.doing.size === 0 ? undefined : ofLine(run.doing, line).at(-1)) ?? [];
  if (path === undefined) return [];
  const which = line.count.isFanOut ? `${showPath(path)} ` : "";
  return [{ text: `  ${which}${sanitize(doing.replace(/\s+/g, " ").trim())}`, style: "dim" }];
}

/** What is known of the instances of a line, in the order in which it became known. */
function ofLine<Known>(known: ReadonlyMap<string, Known>, { live }: LiveLine): readonly (readonly [string, Known])[] {
  const paths = new Set([...live].map(({ path }) => path));
  return [...known].filter(([path]) => paths.has(path));
}

function suspectSegments(instance: Instance | undefined): Segment[] {
  if (instance === undefined) return [];
  return [{ text: `  ${showSuspect(instance)}`, style: instance.phase === "held" ? "red" : "yellow" }];
}

function failureSegments(run: LiveRun, line: LiveLine, status: StepStatus, now: number): Segment[] {
  const { lastFailure } = line;
  if (lastFailure === undefined) return [];
  const instance = findLive(line, "backoff");
  const at = instance === undefined ? undefined : run.history.state.timers.get(timerOf(instance, "retry"));
  const again = at === undefined || line.count.isFanOut ? "" : `  again in ${formatDuration(at - now)}`;
  const style = status === "failed" ? "red" : "yellow";
  return [{ text: `${again}  ${sanitize(`${lastFailure.code} ${lastFailure.message}`)}`, style }];
}

function waitSegments(run: LiveRun, line: LiveLine, status: StepStatus, now: number): Segment[] {
  const instance = findLive(line, status === "waiting" ? "waiting" : "approval");
  if (instance === undefined) return [];
  const timer = run.history.state.timers.get(timerOf(instance, status === "waiting" ? "wait" : "approval"));
  const until = timer === undefined ? "" : `  until ${formatTime(timer, now)}`;
  const question = run.questions.get(instance.path);
  const which = instance.item === SINGLE_ITEM ? "" : `${showPath(instance.path)}: `;
  const since = question === undefined ? "" : `  since ${formatTime(question.at, now)}`;
  const what = question === undefined ? signalOf(instance) : `  ${which}${sanitize(question.message)}`;
  return [{ text: `${since}${until}${what}`, style: status === "waiting" ? "yellow" : "magenta" }];
}

function signalOf({ signal }: Instance): string {
  return signal === undefined ? "" : `  for the event ${sanitize(signal)}`;
}

function findLive(line: LiveLine, phase: Instance["phase"]): Instance | undefined {
  return someLive(line, (instance) => instance.phase === phase);
}

function someLive(line: LiveLine, isWanted: (instance: Instance) => boolean): Instance | undefined {
  for (const { life } of line.live) if (life.is === "live" && isWanted(life.instance)) return life.instance;
  return undefined;
}
