import type { Event, QuestionAsked, StepFailed, StepSucceeded } from "../../../core/history/events.ts";
import type { Instance, InstancePhase } from "../../../core/history/run-state.ts";
import { type TimerPurpose, timerOf } from "../../../core/interpreter/timers.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { HistoryChange, RunHistory, StepHistory } from "../describe/describe-run-history.ts";

/** One attempt of a step instance, from when it could begin to its end. Times are milliseconds since the epoch. */
export interface AttemptSpan {
  readonly attempt: number;
  /** Since then nothing but a free place, money or its executor was missing. */
  readonly queuedAt: number;
  startedAt: number | undefined;
  /** Of its time, waited for a free place at a server. */
  waitedMs: number;
  endedAt: number | undefined;
  status: "running" | "completed" | "failed" | "interrupted" | "asked" | "cancelled";
  failure: { readonly code: string; readonly message: string } | undefined;
  costMicro: number;
  unpriced: boolean;
  usage: JsonObject;
  /** The run that its outcome was taken over from. */
  reusedFrom: string | undefined;
  /** The event that has ended it; 0: none. */
  endSeq: number;
}

/** An attempt of which no end is known. */
export function toRunning(
  begun: Pick<AttemptSpan, "attempt" | "queuedAt"> & { readonly startedAt?: number },
): AttemptSpan {
  return {
    startedAt: undefined,
    waitedMs: 0,
    endedAt: undefined,
    status: "running",
    failure: undefined,
    costMicro: 0,
    unpriced: false,
    usage: {},
    reusedFrom: undefined,
    endSeq: 0,
    ...begun,
  };
}

/** A time in which a step instance rested. */
export interface WaitSpan {
  readonly kind: "retry" | "timer" | "event" | "person" | "held";
  readonly since: number;
  until: number | undefined;
  /** When time alone ends it. */
  readonly wakeAt: number | undefined;
  readonly event: string | undefined;
}

export interface StepSpans {
  /** Since then the next attempt could begin. */
  queuedAt: number;
  /** The event with what a call was given, or a person was shown; 0: none. */
  givenSeq: number;
  readonly attempts: AttemptSpan[];
  readonly waits: WaitSpan[];
}

/** Attempts and waits of all step instances, which the state forgets. Folds beside the history that it is given. */
export class RunSpans {
  readonly #history: RunHistory;
  readonly #spans = new Map<string, StepSpans>();

  constructor(history: RunHistory) {
    this.#history = history;
  }

  spansOf(path: string): StepSpans | undefined {
    return this.#spans.get(path);
  }

  /** Applies the event to the history as well. */
  apply(event: Event): void {
    // Asked before: afterwards it does not wait any more.
    const reader = event.type === "signalReceived" ? this.#readerOf(event.name) : undefined;
    const change = this.#history.apply(event);
    const { now } = this.#history.state;
    for (const { path } of change.began) this.#spans.set(path, { queuedAt: now, givenSeq: 0, attempts: [], waits: [] });
    this.#note(event);
    for (const path of this.#touchedBy(event, change)) this.#lookAt(path);
    if (reader !== undefined) this.#lookAt(reader);
    for (const ended of change.ended) this.#endAttempt(ended, now);
  }

  #note(event: Event): void {
    switch (event.type) {
      case "stepStarted":
        this.#open(event).startedAt = event.at;
        return;
      case "stepSucceeded":
        return this.#end(event, "completed");
      case "stepFailed":
        return this.#end(event, "failed");
      case "approvalAsked":
        return event.attempt === undefined ? this.#noteGiven(event.path) : this.#end(event, "asked");
      case "callResolved":
        return this.#noteGiven(event.path);
      case "stepInterrupted": {
        const spans = this.#spans.get(event.path);
        if (spans === undefined) return;
        spans.queuedAt = event.at;
        if (event.hasBegun === false) return this.#forget(event);
        const attempt = this.#open(event);
        if (attempt.endedAt !== undefined) return;
        attempt.status = "interrupted";
        attempt.endedAt = event.diedAt ?? event.at;
        if (event.cause === "crash") attempt.failure = interrupted(event.reason);
        return;
      }
      // The attempt is taken back before it has begun.
      case "stepHeld":
      case "budgetExhausted":
        return this.#forget(event);
      case "costReported":
        this.#open(event).costMicro += event.costMicro;
        return;
      case "runStarted":
      case "runHeld":
      case "runResumed":
      case "stepProjected":
      case "stepRecorded":
      case "stepLogged":
      case "costReserved":
      case "waitBegun":
      case "approvalAnswered":
      case "timerFired":
      case "signalReceived":
      case "cancelRequested":
      case "limitRaised":
      case "limitNeared":
      case "runFinished":
        return;
    }
  }

  #noteGiven(path: string): void {
    const spans = this.#spans.get(path);
    if (spans !== undefined) spans.givenSeq = this.#history.state.seq;
  }

  /** The attempt that the event is about, which may be the first that is heard of it. */
  #open({ path, attempt }: { readonly path: string; readonly attempt: number }): AttemptSpan {
    const { attempts, queuedAt }: Pick<StepSpans, "attempts" | "queuedAt"> = this.#spans.get(path) ?? {
      attempts: [],
      queuedAt: this.#history.state.now,
    };
    const known = attempts.findLast((each) => each.attempt === attempt);
    if (known !== undefined) return known;
    const opened = toRunning({ attempt, queuedAt });
    attempts.push(opened);
    return opened;
  }

  #forget({ path, attempt }: { readonly path: string; readonly attempt: number }): void {
    const attempts = this.#spans.get(path)?.attempts ?? [];
    const index = attempts.findIndex((each) => each.attempt === attempt && each.endedAt === undefined);
    if (index !== -1) attempts.splice(index, 1);
  }

  #end(event: StepSucceeded | StepFailed | QuestionAsked, status: AttemptSpan["status"]): void {
    const attempt = this.#open(event);
    // The cost of an outcome is the attempt's total, what was reported before included.
    attempt.costMicro = Math.max(attempt.costMicro, event.costMicro ?? 0);
    if (event.unpriced === true) attempt.unpriced = true;
    if (event.usage !== undefined) attempt.usage = event.usage;
    attempt.startedAt ??= event.startedAt;
    attempt.waitedMs = event.waitedMs ?? 0;
    // An outcome that comes late is booked and changes nothing; but one whose projection fails has failed after all.
    const isLate = attempt.endedAt !== undefined && !(attempt.status === "completed" && status === "failed");
    if (isLate) return;
    const spans = this.#spans.get(event.path);
    if (spans !== undefined) spans.queuedAt = event.at;
    attempt.status = status;
    attempt.endedAt = event.at;
    attempt.endSeq = this.#history.state.seq;
    if (event.type === "stepFailed") attempt.failure = { code: event.code, message: event.message };
    if (event.type === "stepSucceeded") attempt.reusedFrom = event.reused?.run;
  }

  /** The end of an instance is that of its attempt, and a failure on a cancel is the cancel. */
  #endAttempt({ path, life }: StepHistory, now: number): void {
    const attempt = this.#spans.get(path)?.attempts.at(-1);
    if (attempt === undefined || life.is !== "ended") return;
    const isCancelled = life.status === "cancelled";
    if (attempt.endedAt === undefined) {
      attempt.endedAt = now;
      attempt.status = isCancelled ? "cancelled" : "failed";
    } else if (isCancelled && attempt.status === "failed" && attempt.endedAt === now) attempt.status = "cancelled";
  }

  #cancelAttempt({ attempts }: StepSpans): void {
    const attempt = attempts.at(-1);
    if (attempt === undefined || attempt.endedAt !== undefined) return;
    attempt.endedAt = this.#history.state.now;
    attempt.status = "cancelled";
  }

  /** Instances that may have begun or ceased to rest: those that the event is about, and those around them. */
  *#touchedBy(event: Event, { began, ended }: HistoryChange): Generator<string> {
    if ("path" in event) yield* this.#outwards(event.path);
    // It lets go on what is held.
    if (event.type === "runResumed") yield* this.#history.state.active.keys();
    if (event.type === "timerFired") yield* this.#outwards(event.timer.slice(0, event.timer.lastIndexOf("@")));
    // One that is cancelled rests no more when its `finally` begins.
    for (const { path } of [...began, ...ended]) yield* this.#outwards(path);
  }

  *#outwards(path: string): Generator<string> {
    yield path;
    let around = this.#history.steps.get(path)?.scope.parent;
    for (; around !== undefined; around = around.scope.parent) yield around.path;
  }

  #readerOf(signal: string): string | undefined {
    return this.#history.state.waiters.get(signal)?.values().next().value?.path;
  }

  #lookAt(path: string): void {
    const spans = this.#spans.get(path);
    if (spans === undefined) return;
    const { state } = this.#history;
    const instance = state.active.get(path);
    const kind = instance === undefined ? undefined : kindOf(instance);
    // Given up while it ran: its `finally` has begun.
    if (instance?.phase === "finally") this.#cancelAttempt(spans);
    const last = spans.waits.at(-1);
    const open = last?.until === undefined ? last : undefined;
    if (open?.kind === kind) return;
    if (open !== undefined) {
      open.until = state.now;
      spans.queuedAt = state.now;
    }
    if (instance === undefined || kind === undefined) return;
    const purpose = PURPOSES[kind];
    const wakeAt = purpose === undefined ? undefined : state.timers.get(timerOf(instance, purpose));
    spans.waits.push({ kind, since: state.now, until: undefined, wakeAt, event: instance.signal });
  }
}

const PURPOSES: Readonly<Record<WaitSpan["kind"], TimerPurpose | undefined>> = {
  retry: "retry",
  timer: "wait",
  event: "wait",
  person: "approval",
  held: undefined,
};

const RESTING: Readonly<Partial<Record<InstancePhase, WaitSpan["kind"]>>> = {
  backoff: "retry",
  waiting: "timer",
  approval: "person",
  held: "held",
};

function kindOf({ phase, signal }: Instance): WaitSpan["kind"] | undefined {
  return phase === "waiting" && signal !== undefined ? "event" : RESTING[phase];
}

function interrupted(reason: string | undefined): AttemptSpan["failure"] {
  return { code: "INTERRUPTED", message: reason ?? "The process ended." };
}
