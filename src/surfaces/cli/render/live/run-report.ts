import type { Event, StepFailed } from "../../../../core/history/events.ts";
import type { Instance, StepState } from "../../../../core/history/run-state.ts";
import { awaitsTurn } from "../../../../core/interpreter/attempt/crashes.ts";
import { sizeOf } from "../../../../core/interpreter/flow/settle.ts";
import { readTimer, timerOf } from "../../../../core/interpreter/timers.ts";
import { toIsoTime } from "../../../../core/iso-time.ts";
import { isJsonObject } from "../../../../core/json.ts";
import { type StepHistory, statusOfEnd, statusOfPhase } from "../../../../operations/runs/describe/step-history.ts";
import { formatBudget, formatDuration, formatUsd } from "../text/formats.ts";
import type { Paint } from "../text/paint.ts";
import { sanitize, showPath } from "../text/sanitize.ts";
import { showRetry, showSuspect } from "../text/show-wait.ts";
import type { Segment } from "../text/text-width.ts";
import type { LiveNotice, LiveRun } from "./live-run.ts";

/** Fan-outs up to this many items are told item by item, larger ones in steps of a tenth. */
const FEW_ITEMS = 20;

/** How many running steps are named in the status line. */
const MAX_NAMED = 3;

/** Tells a run in lines, each with the time since its start, and what goes on now in one. */
export class RunReport {
  readonly #run: LiveRun;
  readonly #paint: Paint;
  readonly #tallies = new Map<StepState, Tally>();
  /** What has been told and still holds the run up. */
  #toldNotes: ReadonlyMap<string, string> = new Map();
  #hasToldSuspects = false;

  constructor(run: LiveRun, paint: Paint) {
    this.#run = run;
    this.#paint = paint;
  }

  tell(notice: LiveNotice): string[] {
    const change = this.#run.apply(notice);
    const lines = [
      ...(notice.type === "event" && change !== undefined ? this.#tellEvent(notice.event) : []),
      ...(change?.ended.flatMap((history) => this.#tellEnd(history)) ?? []),
      ...(change?.began.flatMap((history) => this.#tellStart(history)) ?? []),
      ...this.#tellRun(notice, change !== undefined),
      ...this.#tellNotes(notice.type === "late" ? notice.at : this.#run.history.state.now),
      ...this.#tellRetry(notice),
    ];
    return lines.map((line) => `[${this.#elapsed().padStart(8)}] ${line}`);
  }

  /** What goes on at the moment. Empty: nothing does. */
  status(now: number): readonly Segment[] {
    const { history, retries, doing } = this.#run;
    const { phase, budget } = history.state;
    if (phase === "new" || phase === "finished") return [];
    const running = this.#namesOfRunning();
    const more = running.length > MAX_NAMED ? ` and ${running.length - MAX_NAMED} more` : "";
    const [retry] = [...retries.values()].slice(-1);
    const waits = [...this.#run.notes(now).values(), ...(retry === undefined ? [] : [showRetry(retry, now)])];
    return [
      { text: "● ", style: "cyan" },
      { text: `${this.#elapsed(now)}  ${formatBudget(budget)}` },
      { text: `  ${running.slice(0, MAX_NAMED).join(", ")}${more}` },
      ...waits.map((text): Segment => ({ text: `  ${text}`, style: "yellow" })),
      ...(doing === undefined ? [] : [{ text: `  ${sanitize(doing.text)}`, style: "dim" } as const]),
    ];
  }

  #namesOfRunning(): readonly string[] {
    const names = new Set<string>();
    for (const instance of this.#run.history.state.active.values()) {
      const { path, child, phase } = instance;
      const status = statusOfPhase(phase);
      const crowd = crowdOf(instance);
      if (crowd !== undefined) names.add(`${sanitize(crowd.id)} ${crowd.state.settled}/${sizeOf(crowd.state)}`);
      else if (status === "running" && child === undefined) names.add(showPath(path));
      else if (status !== "running" && status !== "pending")
        names.add(`${showPath(path)} (${status.replaceAll("_", " ")})`);
    }
    return [...names];
  }

  /** Each when it begins. */
  #tellNotes(now: number): string[] {
    const notes = this.#run.notes(now);
    const news = [...notes].filter(([what]) => !this.#toldNotes.has(what));
    this.#toldNotes = notes;
    return news.map(([, text]) => this.#paint("yellow", text));
  }

  #tellRetry(notice: LiveNotice): string[] {
    if (notice.type !== "live" || !isJsonObject(notice.event) || notice.event["type"] !== "retry") return [];
    const retry = this.#run.retries.get(notice.path);
    const history = this.#run.history.steps.get(notice.path);
    if (retry === undefined || history === undefined || crowdOf(history) !== undefined) return [];
    return [this.#paint("yellow", `${showPath(notice.path)} ${showRetry(retry, Date.now())}`)];
  }

  #tellStart(history: StepHistory): string[] {
    const { path, step, item, life } = history;
    const { kind } = step.step;
    if (item >= 0 || life.is !== "live" || crowdOf(history) !== undefined) return [];
    if (kind === "set" || kind === "respond" || kind === "approve") return [];
    if (life.instance.phase !== "waiting") return [`${showPath(path)} started`];
    const { signal } = life.instance;
    const what = signal === undefined ? "" : ` for the event ${sanitize(signal)}`;
    const at = this.#timerOf(life.instance, "wait");
    return [
      this.#paint("yellow", `${showPath(path)} waits${what}${at === undefined ? "" : ` until ${toIsoTime(at)}`}`),
    ];
  }

  #tellEvent(event: Event): string[] {
    const missing = this.#tellMissing(event);
    if (event.type === "approvalAsked") return [...missing, this.#approvalLine(event.path, event.message)];
    if (event.type === "stepFailed") return [...missing, ...this.#tellFailedAttempt(event)];
    if (event.type === "stepRecorded" && event.lacks !== undefined)
      return [this.#paint("red", `${showPath(event.path)} held: ${sanitize(event.lacks)}`)];
    if (event.type === "stepInterrupted") return this.#tellDeath(event.path);
    if (event.type === "timerFired") return this.#tellReminder(event.timer);
    return missing;
  }

  #tellMissing(event: Event): string[] {
    const { missing = [] } = "missing" in event ? event : {};
    if (missing.length === 0) return [];
    const reader = "path" in event ? showPath(event.path) : "A condition";
    return [this.#paint("yellow", `${reader} read ${sanitize(missing.join(", "))}, which led nowhere`)];
  }

  #approvalLine(path: string, message: string): string {
    const instance = this.#run.history.state.active.get(path);
    const at = instance === undefined ? undefined : this.#timerOf(instance, "approval");
    const until = at === undefined ? "" : ` (until ${toIsoTime(at)})`;
    return this.#paint("magenta", `${showPath(path)} awaits approval${until}: ${sanitize(message)}`);
  }

  #tellReminder(timer: string): string[] {
    const { path, purpose } = readTimer(timer);
    const instance = this.#run.history.state.active.get(path);
    if (instance?.step.step.kind !== "approve") return [];
    const { escalation } = instance.step.step;
    if (purpose === "remind") return [this.#paint("magenta", `${showPath(path)} still awaits approval (reminded)`)];
    if (purpose !== "escalate" || escalation === undefined) return [];
    const who = `by ${sanitize(escalation.to.join(", "))} ${escalation.replaces === true ? "alone" : "too"}`;
    return [this.#paint("magenta", `${showPath(path)} awaits approval ${who} (escalated)`)];
  }

  /** One after which the step goes on: the last failure is told with the end. */
  #tellFailedAttempt({ path, code, message }: StepFailed): string[] {
    const history = this.#run.history.steps.get(path);
    if (history?.life.is !== "live" || crowdOf(history) !== undefined) return [];
    const { instance } = history.life;
    const at = this.#timerOf(instance, "retry");
    const next = at === undefined ? "" : `, again in ${formatDuration(at - this.#run.history.state.now)}`;
    const what = instance.phase === "catch" ? ", its fallback runs" : next;
    return [this.#paint("yellow", `${showPath(path)} failed${what}${showFailure({ code, message })}`)];
  }

  #tellEnd(history: StepHistory): string[] {
    if (history.life.is !== "ended") return [];
    const { kind } = history.step.step;
    const { status, failure } = history;
    if ((kind === "set" || kind === "respond") && status === "completed") return [];
    const crowd = crowdOf(history);
    if (crowd !== undefined) return this.#tellTenth(crowd, history, failure);
    const took = formatDuration(history.life.at - (history.startedAt ?? history.beganAt));
    const costs = showCosts(history);
    const path = showPath(history.path);
    if (status !== "failed") return [`${path} ${status} in ${took}${costs}`];
    return [this.#paint("red", `${path} failed after ${took}${costs}${showFailure(failure)}`)];
  }

  #tellTenth({ id, state }: Crowd, { costMicro, unpriced }: StepHistory, failure: Failure | undefined): string[] {
    const tally = this.#tallies.get(state) ?? { told: 0, costMicro: 0, unpriced: false, failure: undefined };
    this.#tallies.set(state, tally);
    tally.costMicro += costMicro;
    tally.unpriced ||= unpriced;
    tally.failure = failure ?? tally.failure;
    const { settled } = state;
    const tenth = Math.floor((settled / sizeOf(state)) * 10);
    if (tenth <= tally.told) return [];
    tally.told = tenth;
    const failed = state.status.filter((status) => statusOfEnd(status) === "failed").length;
    const why = failed === 0 ? "" : showFailure(tally.failure);
    tally.failure = undefined;
    const counts = `${settled}/${sizeOf(state)}${failed === 0 ? "" : `, ${failed} failed`}`;
    return [`${sanitize(id)} ${counts}${showCosts(tally)}${why}`];
  }

  #tellRun(notice: LiveNotice, isNews: boolean): string[] {
    if (notice.type === "parked") return ["the run is parked"];
    if (notice.type === "unstalled") return ["the run goes on"];
    if (notice.type !== "event" || notice.event.type !== "runFinished" || !isNews) return [];
    const { status, code, message = "" } = notice.event;
    const said = `run ${status.replaceAll("_", " ")}, ${formatBudget(this.#run.history.state.budget)}`;
    if (code === undefined) return [said];
    return [this.#paint("red", said + showFailure({ code, message }))];
  }

  /** Suspects once, since there may be very many. */
  #tellDeath(path: string): string[] {
    const instance = this.#run.history.state.active.get(path);
    if (instance === undefined) return [];
    const isHeld = instance.phase === "held";
    if (!isHeld && (this.#hasToldSuspects || !awaitsTurn(instance))) return [];
    this.#hasToldSuspects = true;
    return [this.#paint(isHeld ? "red" : "yellow", `${showPath(path)} ${showSuspect(instance)}`)];
  }

  #timerOf(instance: Instance, what: Parameters<typeof timerOf>[1]): number | undefined {
    return this.#run.history.state.timers.get(timerOf(instance, what));
  }

  /** A run in line has not begun. */
  #elapsed(now = this.#run.history.state.now): string {
    const { queued, startedAt } = this.#run.history.state;
    return formatDuration(now - (startedAt || (queued?.at ?? now)));
  }
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

/** What has ended in a fan-out of many items, and in all that is inside it. */
interface Tally {
  /** How many tenths have been told. */
  told: number;
  costMicro: number;
  unpriced: boolean;
  /** The latest that has not been told. */
  failure: Failure | undefined;
}

interface Crowd {
  readonly id: string;
  readonly state: StepState;
}

/** The outermost fan-out of many items that an instance is in: it is told of as a whole. */
function crowdOf({ scope, step }: Pick<Instance, "scope" | "step">): Crowd | undefined {
  const outer = scope.parent === undefined ? undefined : crowdOf(scope.parent);
  if (outer !== undefined) return outer;
  const state = scope.steps[step.index];
  return state !== undefined && sizeOf(state) > FEW_ITEMS ? { id: step.step.id, state } : undefined;
}

function showFailure(failure: Failure | undefined): string {
  return failure === undefined ? "" : `: ${sanitize(`${failure.code} ${failure.message}`)}`;
}

function showCosts({ costMicro, unpriced }: Pick<StepHistory, "costMicro" | "unpriced">): string {
  return costMicro === 0 && !unpriced ? "" : `, ${formatUsd(costMicro / 1_000_000, { unpriced })}`;
}
