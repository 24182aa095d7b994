import type { IndexedGraph } from "../../../core/graph/indexed-graph.ts";
import {
  type Event,
  LACKS,
  type QuestionAsked,
  type StepFailed,
  type StepInterrupted,
  type StepSucceeded,
} from "../../../core/history/events.ts";
import { newRunState } from "../../../core/history/new-run-state.ts";
import type { Instance, InstancePhase, NoteWay, RunState, Scope } from "../../../core/history/run-state.ts";
import { refold } from "../../../core/interpreter/next.ts";
import { readTimer, type TimerPurpose, timerOf } from "../../../core/interpreter/timers.ts";
import type { JsonObject } from "../../../core/json.ts";
import { type Attempt, addUsage, newAttempt, StepHistory, statusOfEnd, type Wait } from "./step-history.ts";

export interface HistoryChange {
  readonly began: readonly StepHistory[];
  readonly ended: readonly StepHistory[];
  /** All that the event may have changed, causes first. */
  readonly changed: ReadonlySet<StepHistory>;
}

/**
 * A run as all its readers see it: the state, which the core folds, and beside it what the core forgets: attempts and waits
 * of each step, what it cost, why it failed. Holds handles, no values. The fold is O(what an event changes).
 */
export class RunHistory {
  readonly state: RunState;
  /** By path, in the order in which they began. */
  readonly steps = new Map<string, StepHistory>();
  /** Every pass through a flow in which something has begun. */
  readonly scopes = new Map<Scope, StepHistory[]>();
  usage: JsonObject = {};
  /** How long values are as JSON, by their event: of those that are large, and then of those that were read. */
  readonly sizes = new Map<number, number>();
  finishedAt: number | undefined;
  /** What conditions compare of the input, and it has not. */
  missing: readonly string[] | undefined;
  #began: StepHistory[] = [];
  #ended: Instance[] = [];
  #changed = new Set<StepHistory>();

  constructor(graph: IndexedGraph, noteWay?: NoteWay) {
    const active = new WatchedInstances({
      began: (instance) => this.#begin(instance),
      ended: (instance) => {
        this.#ended.push(instance);
        this.#noteChange(this.steps.get(instance.path));
      },
    });
    this.state = { ...newRunState(graph), active, noteWay };
  }

  /** The event after the latest one. The graph that a `callResolved` names must be among the state's. */
  apply(event: Event): HistoryChange {
    this.#began = [];
    this.#ended = [];
    this.#changed = new Set();
    // Asked before: afterwards it does not wait any more.
    const reader = event.type === "signalReceived" ? this.#readerOf(event.name) : undefined;
    const { openMicro, lostMicro, unbounded } = this.state.budget;
    if ("path" in event) this.#noteChange(this.steps.get(event.path));
    refold(this.state, event);
    const step = "path" in event ? this.steps.get(event.path) : undefined;
    if (step !== undefined) {
      // An event changes what is known of the calls of its own step only.
      const { budget } = this.state;
      step.uncertainMicro += budget.openMicro + budget.lostMicro - openMicro - lostMicro;
      step.unbounded += budget.unbounded - unbounded;
    }
    this.#note(event, step);
    const began = this.#began;
    const ended = this.#ended.flatMap((instance) => this.#end(instance) ?? []);
    this.#noteRests(event, step, reader);
    for (const each of began) this.#noteRest(each);
    for (const each of ended) {
      this.#noteRest(each);
      endAttempt(each);
    }
    return { began, ended, changed: this.#changed };
  }

  #begin(instance: Instance): void {
    const { path, scope } = instance;
    const state = scope.steps[instance.step.index];
    if (state === undefined) throw new Error(`"${path}" began without its step.`);
    const step = new StepHistory(instance, state, this.state.now);
    this.steps.set(path, step);
    const siblings = this.scopes.get(scope);
    if (siblings === undefined) this.scopes.set(scope, [step]);
    else siblings.push(step);
    this.#began.push(step);
    this.#noteChange(step);
  }

  /** A step that has changed twice is told where it changed last. */
  #noteChange(step: StepHistory | undefined): void {
    if (step === undefined) return;
    this.#changed.delete(step);
    this.#changed.add(step);
  }

  #end({ path, item, attempt, failure }: Instance): StepHistory | undefined {
    const step = this.steps.get(path);
    if (step?.life.is !== "live") return undefined;
    const { state } = step.life;
    const found = state.status[Math.max(0, item)] ?? "cancelled";
    // A run that was killed leaves behind what it had in hand.
    const status = found === "pending" || found === "running" ? "cancelled" : found;
    step.life = {
      is: "ended",
      at: this.state.now,
      attempt,
      status,
      handle: state.handle[Math.max(0, item)] ?? 0,
      failure: statusOfEnd(status) === "failed" ? (failure ?? step.attemptFailure) : undefined,
    };
    return step;
  }

  #note(event: Event, step: StepHistory | undefined): void {
    const { seq } = this.state;
    if ("bytes" in event && event.bytes !== undefined) this.sizes.set(seq, event.bytes);
    if ("usage" in event && event.usage !== undefined) this.usage = addUsage(this.usage, event.usage);
    if (event.type === "runFinished") this.finishedAt = event.at;
    if (event.type === "runStarted") this.missing = event.missing;
    if (step === undefined) return;
    if ("missing" in event && event.missing !== undefined) step.missing = event.missing;
    if ("policies" in event && event.policies !== undefined) step.decisions = [...step.decisions, ...event.policies];
    switch (event.type) {
      case "stepStarted":
        openAttempt(step, event.attempt).startedAt = event.startedAt ?? event.at;
        step.givenSeq = seq;
        return;
      case "stepRecorded":
        if (event.key === LACKS) step.lacks = event.lacks;
        return;
      case "stepLogged":
        step.logSeq = seq;
        return;
      case "stepSucceeded":
        return noteOutcome(step, event, { seq, status: "completed" });
      case "stepFailed":
        return noteOutcome(step, event, { seq, status: "failed" });
      case "approvalAsked":
        if (event.attempt !== undefined) return noteOutcome(step, event, { seq, status: "asked" });
        step.givenSeq = seq;
        return;
      case "callResolved":
        step.givenSeq = seq;
        return;
      case "costReported":
        openAttempt(step, event.attempt).costMicro += event.costMicro;
        return;
      case "stepInterrupted":
        step.lacks = undefined;
        return noteInterruption(step, event);
      case "stepHeld":
      case "budgetExhausted":
        return takeBack(step, event.attempt);
      default:
        return;
    }
  }

  /** Instances that the event is about may have begun or ceased to rest. */
  #noteRests(event: Event, step: StepHistory | undefined, reader: StepHistory | undefined): void {
    this.#noteRest(step);
    this.#noteRest(reader);
    if (event.type === "timerFired") this.#noteRest(this.steps.get(readTimer(event.timer).path));
    // It lets go on what is held.
    if (event.type === "runResumed") for (const path of this.state.active.keys()) this.#noteRest(this.steps.get(path));
  }

  #around({ scope: { parent } }: StepHistory): StepHistory | undefined {
    return parent === undefined ? undefined : this.steps.get(parent.path);
  }

  #readerOf(signal: string): StepHistory | undefined {
    const reader = this.state.waiters.get(signal)?.values().next().value;
    return reader === undefined ? undefined : this.steps.get(reader.path);
  }

  /** Of an instance and of those around it: one that is cancelled rests no more when its `finally` begins. */
  #noteRest(named: StepHistory | undefined): void {
    for (let step = named; step !== undefined; step = this.#around(step)) this.#noteOwnRest(step);
  }

  #noteOwnRest(step: StepHistory): void {
    const { state } = this;
    const instance = step.life.is === "live" ? step.life.instance : undefined;
    const kind = instance === undefined ? undefined : kindOf(instance);
    // Given up while it ran: its `finally` has begun.
    if (instance?.phase === "finally") cancelAttempt(step, state.now);
    const last = step.waits.at(-1);
    const open = last?.until === undefined ? last : undefined;
    if (open?.kind === kind) return;
    if (open !== undefined) {
      open.until = state.now;
      step.queuedAt = state.now;
    }
    if (instance === undefined || kind === undefined) return;
    const purpose = PURPOSES[kind];
    const wakeAt = purpose === undefined ? undefined : state.timers.get(timerOf(instance, purpose));
    step.waits.push({ kind, since: state.now, until: undefined, wakeAt, event: instance.signal });
  }
}

/** The attempt that an event is about, which may be the first that is heard of it. */
function openAttempt({ attempts, queuedAt }: StepHistory, attempt: number): Attempt {
  const known = attempts.findLast((each) => each.attempt === attempt);
  if (known !== undefined) return known;
  const opened = newAttempt({ attempt, queuedAt, startedAt: undefined });
  attempts.push(opened);
  return opened;
}

/** It was taken back before it had begun. */
function takeBack({ attempts }: StepHistory, attempt: number): void {
  const index = attempts.findIndex((each) => each.attempt === attempt && each.endedAt === undefined);
  if (index !== -1) attempts.splice(index, 1);
}

function noteOutcome(
  step: StepHistory,
  event: StepSucceeded | StepFailed | QuestionAsked,
  { seq, status }: { readonly seq: number; readonly status: Attempt["status"] },
): void {
  const attempt = openAttempt(step, event.attempt);
  // The cost of an outcome is the attempt's total, what was reported before included.
  attempt.costMicro = Math.max(attempt.costMicro, event.costMicro ?? 0);
  if (event.unpriced === true) attempt.unpriced = true;
  if (event.usage !== undefined) attempt.usage = event.usage;
  attempt.startedAt ??= event.startedAt;
  attempt.waitedMs = event.waitedMs ?? 0;
  // An outcome that comes late is booked and changes nothing; but one whose projection fails has failed after all.
  const isLate = attempt.endedAt !== undefined && !(attempt.status === "completed" && status === "failed");
  if (isLate) return;
  step.queuedAt = event.at;
  attempt.status = status;
  attempt.endedAt = event.at;
  attempt.endSeq = seq;
  if (event.type === "stepFailed") attempt.failure = { code: event.code, message: event.message };
  if (event.type === "stepSucceeded") attempt.reusedFrom = event.reused?.run;
}

function noteInterruption(step: StepHistory, event: StepInterrupted): void {
  step.queuedAt = event.at;
  if (event.hasBegun === false) return takeBack(step, event.attempt);
  const attempt = openAttempt(step, event.attempt);
  if (attempt.endedAt !== undefined) return;
  attempt.status = "interrupted";
  attempt.endedAt = event.diedAt ?? event.at;
  if (event.cause === "crash") attempt.failure = { code: "INTERRUPTED", message: event.reason ?? "The process ended." };
}

/** The end of an instance is that of its attempt, and a failure on a cancel is the cancel. */
function endAttempt({ attempts, life }: StepHistory): void {
  const attempt = attempts.at(-1);
  if (attempt === undefined || life.is !== "ended") return;
  const isCancelled = life.status === "cancelled";
  if (attempt.endedAt === undefined) {
    attempt.endedAt = life.at;
    attempt.status = isCancelled ? "cancelled" : "failed";
  } else if (isCancelled && attempt.status === "failed" && attempt.endedAt === life.at) attempt.status = "cancelled";
}

function cancelAttempt({ attempts }: StepHistory, now: number): void {
  const attempt = attempts.at(-1);
  if (attempt === undefined || attempt.endedAt !== undefined) return;
  attempt.endedAt = now;
  attempt.status = "cancelled";
}

const PURPOSES: Readonly<Record<Wait["kind"], TimerPurpose | undefined>> = {
  retry: "retry",
  timer: "wait",
  event: "wait",
  person: "approval",
  held: undefined,
};

const RESTING: Readonly<Partial<Record<InstancePhase, Wait["kind"]>>> = {
  backoff: "retry",
  waiting: "timer",
  approval: "person",
  held: "held",
};

function kindOf({ phase, signal }: Instance): Wait["kind"] | undefined {
  return phase === "waiting" && signal !== undefined ? "event" : RESTING[phase];
}

/** Nothing else in the state tells that an instance has come or gone without going through all of them. */
class WatchedInstances extends Map<string, Instance> {
  readonly #watch: { began(instance: Instance): void; ended(instance: Instance): void };

  constructor(watch: { began(instance: Instance): void; ended(instance: Instance): void }) {
    super();
    this.#watch = watch;
  }

  override set(path: string, instance: Instance): this {
    this.#watch.began(instance);
    return super.set(path, instance);
  }

  override delete(path: string): boolean {
    const instance = this.get(path);
    if (instance !== undefined) this.#watch.ended(instance);
    return super.delete(path);
  }

  override clear(): void {
    for (const instance of this.values()) this.#watch.ended(instance);
    super.clear();
  }
}
