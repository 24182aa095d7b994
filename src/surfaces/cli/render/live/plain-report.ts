import type { Event, StepFailed } from "../../../../core/history/events.ts";
import { awaitsTurn } from "../../../../core/interpreter/attempt/crashes.ts";
import { timerOf } from "../../../../core/interpreter/timers.ts";
import { toIsoTime } from "../../../../core/iso-time.ts";
import { isJsonObject } from "../../../../core/json.ts";
import type { StepHistory } from "../../../../operations/runs/describe/describe-run-history.ts";
import { statusOfEnd } from "../../../../operations/runs/describe/describe-run-steps.ts";
import { formatBudget, formatDuration, formatUsd } from "../text/formats.ts";
import { sanitize, showPath } from "../text/sanitize.ts";
import { showBudgetWait, showRetry, showSuspect, showWait } from "../text/show-wait.ts";
import type { LiveLine } from "./live-line.ts";
import type { LiveNotice, LiveRun } from "./live-run.ts";

/** Fan-outs up to this many items are told item by item, larger ones in steps of a tenth. */
const FEW_ITEMS = 20;

/** Tells a run in lines, each with the time since its start. */
export class PlainReport {
  readonly #run: LiveRun;
  /** How many tenths of a large fan-out have been told. */
  readonly #told = new Map<LiveLine, number>();

  readonly #toldWaits = new Set<string>();
  #hasToldSuspects = false;
  #hasToldBudget = false;

  constructor(run: LiveRun) {
    this.#run = run;
  }

  tell(notice: LiveNotice): string[] {
    const before = this.#run.stalled?.code;
    const { began, ended } = this.#run.apply(notice);
    const lines = [
      ...(notice.type === "event" ? this.#tellEvent(notice.event) : []),
      ...ended.flatMap((history) => this.#tellEnd(history)),
      ...began.flatMap((history) => this.#tellStart(history)),
      ...this.#tellRun(notice, before),
      ...this.#tellDeath(notice),
      ...this.#tellWaits(),
      ...this.#tellBudgetWait(),
      ...this.#tellRetry(notice),
    ];
    return lines.map((line) => `[${this.#elapsed()}] ${line}`);
  }

  /** Each pool when calls begin to wait for it. */
  #tellWaits(): string[] {
    const { waits, history } = this.#run;
    for (const pool of this.#toldWaits) if (!waits.has(pool)) this.#toldWaits.delete(pool);
    return [...waits.values()].flatMap((wait) => {
      if (this.#toldWaits.has(wait.pool)) return [];
      this.#toldWaits.add(wait.pool);
      return [showWait(wait, history.state.now)];
    });
  }

  /** Once, when tries begin to wait for it. */
  #tellBudgetWait(): string[] {
    const { waitingForBudget: waiting } = this.#run;
    const isNews = waiting > 0 && !this.#hasToldBudget;
    this.#hasToldBudget = waiting > 0;
    return isNews ? [showBudgetWait(waiting)] : [];
  }

  #tellRetry(notice: LiveNotice): string[] {
    if (notice.type !== "live" || !isJsonObject(notice.event) || notice.event["type"] !== "retry") return [];
    const retry = this.#run.retries.get(notice.path);
    const history = this.#run.history.steps.get(notice.path);
    if (retry === undefined || history === undefined || this.#isOneOfMany(history)) return [];
    return [`${showPath(notice.path)} ${showRetry(retry, Date.now())}`];
  }

  #tellStart(history: StepHistory): string[] {
    const { path, step, item, life } = history;
    const { kind } = step.step;
    if (item >= 0 || life.is !== "live" || this.#isOneOfMany(history)) return [];
    if (kind === "set" || kind === "respond" || kind === "approve") return [];
    if (life.instance.phase !== "waiting") return [`${showPath(path)} started`];
    const { timers } = this.#run.history.state;
    const at = timers.get(timerOf(life.instance, "wait"));
    const until = at === undefined ? "" : ` until ${toIsoTime(at)}`;
    const { signal } = life.instance;
    return [`${showPath(path)} waits${signal === undefined ? "" : ` for the event ${sanitize(signal)}`}${until}`];
  }

  #tellEvent(event: Event): string[] {
    if (event.type === "approvalAsked") return [this.#approvalLine(event.path, event.message)];
    if (event.type === "stepFailed") return this.#tellFailedAttempt(event);
    return [];
  }

  #approvalLine(path: string, message: string): string {
    const instance = this.#run.history.state.active.get(path);
    const at = instance === undefined ? undefined : this.#run.history.state.timers.get(timerOf(instance, "approval"));
    const until = at === undefined ? "" : ` (until ${toIsoTime(at)})`;
    return `${showPath(path)} awaits approval${until}: ${sanitize(message)}`;
  }

  /** One after which the step goes on: the last failure is told with the end. */
  #tellFailedAttempt({ path, code, message }: StepFailed): string[] {
    const history = this.#run.history.steps.get(path);
    if (history?.life.is !== "live" || this.#isOneOfMany(history)) return [];
    const { instance } = history.life;
    const { state } = this.#run.history;
    const at = state.timers.get(timerOf(instance, "retry"));
    const next = at === undefined ? "" : `, again in ${formatDuration(at - state.now)}`;
    const what = instance.phase === "catch" ? ", its fallback runs" : next;
    return [`${showPath(path)} failed${what}: ${sanitize(`${code} ${message}`)}`];
  }

  #tellEnd(history: StepHistory): string[] {
    if (history.life.is !== "ended") return [];
    const { kind } = history.step.step;
    const status = statusOfEnd(history.life.status);
    if ((kind === "set" || kind === "respond") && status === "completed") return [];
    const line = this.#run.lineOf(history);
    if (line !== undefined && this.#isOneOfMany(history)) return this.#tellTenth(line);
    const took = formatDuration(history.life.at - (history.startedAt ?? history.beganAt));
    const costs = costText(history);
    const path = showPath(history.path);
    if (status !== "failed") return [`${path} ${status} in ${took}${costs}`];
    const failure = this.#run.history.failures.get(history.path) ?? history.attemptFailure;
    const why = failure === undefined ? "" : `: ${sanitize(`${failure.code} ${failure.message}`)}`;
    return [`${path} failed after ${took}${costs}${why}`];
  }

  #tellTenth(line: LiveLine): string[] {
    const { total, settled } = line.count;
    const tenth = Math.floor((settled / total) * 10);
    if (tenth <= (this.#told.get(line) ?? 0)) return [];
    this.#told.set(line, tenth);
    const failed = line.ended("failed");
    const costs =
      line.costMicro === 0 ? "" : `, ${formatUsd(line.costMicro / 1_000_000, { unpriced: line.isUnpriced })}`;
    return [`${sanitize(line.id)} ${settled}/${total}${failed === 0 ? "" : `, ${failed} failed`}${costs}`];
  }

  /** `before`: why nothing could be written until now, which is told once. */
  #tellRun(notice: LiveNotice, before: string | undefined): string[] {
    if (notice.type === "parked") return ["the run is parked"];
    if (notice.type === "stalled" && notice.code === before) return [];
    if (notice.type === "stalled")
      return [`nothing can be written, the run stands still: ${notice.code} ${sanitize(notice.message)}`];
    if (notice.type === "unstalled") return ["the run goes on"];
    if (notice.type !== "event" || notice.event.type !== "runFinished") return [];
    const { status, code, message = "" } = notice.event;
    const { budget } = this.#run.history.state;
    const usd = formatBudget(budget);
    return [
      `run ${status.replaceAll("_", " ")}, ${usd}${code === undefined ? "" : `: ${sanitize(`${code} ${message}`)}`}`,
    ];
  }

  /** Suspects once, since there may be very many. */
  #tellDeath(notice: LiveNotice): string[] {
    if (notice.type !== "event" || notice.event.type !== "stepInterrupted") return [];
    const instance = this.#run.history.state.active.get(notice.event.path);
    if (instance === undefined) return [];
    const path = showPath(instance.path);
    const isHeld = instance.phase === "held";
    if (!isHeld && (this.#hasToldSuspects || !awaitsTurn(instance))) return [];
    this.#hasToldSuspects = true;
    return [`${path} ${showSuspect(instance)}`];
  }

  #isOneOfMany(history: StepHistory): boolean {
    return (this.#run.lineOf(history)?.count.total ?? 0) > FEW_ITEMS;
  }

  #elapsed(): string {
    const { now, startedAt } = this.#run.history.state;
    return formatDuration(now - startedAt).padStart(8);
  }
}

function costText({ costMicro, unpriced }: StepHistory): string {
  return costMicro === 0 && !unpriced ? "" : `, ${formatUsd(costMicro / 1_000_000, { unpriced })}`;
}
