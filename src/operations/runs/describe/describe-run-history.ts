import type { IndexedGraph, IndexedStep } from "../../../core/graph/indexed-graph.ts";
import type { PolicyDecision } from "../../../core/graph/policy.ts";
import type { Event, QuestionAsked, StepFailed, StepSucceeded } from "../../../core/history/events.ts";
import { newRunState } from "../../../core/history/new-run-state.ts";
import type { Handle, Instance, InstanceStatus, RunState, Scope, StepState } from "../../../core/history/run-state.ts";
import { refold } from "../../../core/interpreter/next.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";

/** The history of one step instance, over all its attempts. */
export interface StepHistory {
  readonly path: string;
  readonly scope: Scope;
  readonly step: IndexedStep;
  /** Index in the fan-out, -1 without one. */
  readonly item: number;
  readonly beganAt: number;
  life: StepLife;
  /** When the first attempt was handed to its executor. */
  startedAt: number | undefined;
  costMicro: number;
  unpriced: boolean;
  /** What its calls may have cost beside it whose cost is not known, and how many of them have no bound. */
  uncertainMicro: number;
  unbounded: number;
  usage: JsonObject;
  /** The event that holds the bound input of the latest attempt; 0: none. */
  inputSeq: number;
  /** The event that holds the latest attempt's log; 0: none. */
  logSeq: number;
  /** The error of the latest failed attempt, whatever followed. */
  attemptFailure: { readonly code: string; readonly message: string } | undefined;
  /** Cost that was reported before the outcome, by attempt. */
  reportedMicro: Map<number, number> | undefined;
  /** How many of its attempts have ended with a question to a person. */
  questions: number;
  /** Decisions of policies, over all its attempts. */
  decisions: readonly PolicyDecision[];
}

type StepLife =
  | { readonly is: "live"; readonly instance: Instance; readonly state: StepState }
  | {
      readonly is: "ended";
      readonly at: number;
      readonly attempt: number;
      readonly status: InstanceStatus;
      readonly handle: Handle;
    };

export interface HistoryChange {
  readonly began: readonly StepHistory[];
  readonly ended: readonly StepHistory[];
}

/**
 * A run as its readers see it: the state, which the core folds, and beside it what the core forgets: how long each step
 * took, what it cost, how often it was tried. Holds handles, no values. The fold is O(what an event changes).
 */
export class RunHistory {
  readonly state: RunState;
  /** By path, in the order in which they began. */
  readonly steps = new Map<string, StepHistory>();
  /** Every pass through a flow in which something has begun. */
  readonly scopes = new Map<Scope, StepHistory[]>();
  /** Final failures, also of fan-outs that never came to have items. */
  readonly failures = new Map<string, { readonly code: string; readonly message: string }>();
  usage: JsonObject = {};
  finishedAt: number | undefined;
  #failuresSeen = 0;
  #began: StepHistory[] = [];
  #ended: Instance[] = [];

  constructor(graph: IndexedGraph) {
    const active = new WatchedInstances({
      began: (instance) => this.#begin(instance),
      ended: (instance) => this.#ended.push(instance),
    });
    this.state = { ...newRunState(graph), active };
  }

  /** The event after the latest one. The graph that a `callResolved` names must be among the state's. */
  apply(event: Event): HistoryChange {
    this.#began = [];
    this.#ended = [];
    this.#note(event);
    const { openMicro, lostMicro, unbounded } = this.state.budget;
    refold(this.state, event);
    this.#noteUncertain(event, { micro: openMicro + lostMicro, unbounded });
    this.#noteFailures();
    return { began: this.#began, ended: this.#ended.flatMap((instance) => this.#end(instance) ?? []) };
  }

  #begin(instance: Instance): void {
    const { path, scope, step, item } = instance;
    const state = scope.steps[step.index];
    if (state === undefined) throw new Error(`"${path}" began without its step.`);
    const history: StepHistory = {
      path,
      scope,
      step,
      item,
      beganAt: this.state.now,
      life: { is: "live", instance, state },
      startedAt: undefined,
      costMicro: 0,
      unpriced: false,
      uncertainMicro: 0,
      unbounded: 0,
      usage: {},
      inputSeq: 0,
      logSeq: 0,
      attemptFailure: undefined,
      reportedMicro: undefined,
      questions: 0,
      decisions: [],
    };
    this.steps.set(path, history);
    const siblings = this.scopes.get(scope);
    if (siblings === undefined) this.scopes.set(scope, [history]);
    else siblings.push(history);
    this.#began.push(history);
  }

  #end(instance: Instance): StepHistory | undefined {
    const history = this.steps.get(instance.path);
    if (history?.life.is !== "live") return undefined;
    const { state } = history.life;
    const index = Math.max(0, instance.item);
    const status = state.status[index] ?? "cancelled";
    history.life = {
      is: "ended",
      at: this.state.now,
      attempt: instance.attempt,
      // A run that was killed leaves behind what it had in hand.
      status: status === "pending" || status === "running" ? "cancelled" : status,
      handle: state.handle[index] ?? 0,
    };
    return history;
  }

  #note(event: Event): void {
    switch (event.type) {
      case "stepStarted": {
        const history = this.steps.get(event.path);
        if (history === undefined) return;
        history.startedAt ??= event.at;
        history.inputSeq = this.state.seq + 1;
        return;
      }
      case "stepLogged": {
        const history = this.steps.get(event.path);
        if (history !== undefined) history.logSeq = this.state.seq + 1;
        return;
      }
      case "stepSucceeded":
      case "stepFailed":
        this.#noteOutcome(event);
        return;
      case "approvalAsked":
        if (event.attempt !== undefined) this.#noteOutcome(event);
        return;
      case "costReported": {
        const history = this.steps.get(event.path);
        if (history === undefined) return;
        history.costMicro += event.costMicro;
        history.reportedMicro ??= new Map();
        history.reportedMicro.set(event.attempt, reportedBy(history, event.attempt) + event.costMicro);
        return;
      }
      case "runFinished":
        this.finishedAt = event.at;
        return;
      case "runStarted":
      case "runResumed":
      case "stepProjected":
      case "stepInterrupted":
      case "stepRecorded":
      case "callResolved":
      case "waitBegun":
      case "approvalAnswered":
      case "timerFired":
      case "signalReceived":
      case "cancelRequested":
      case "runHeld":
      case "budgetExhausted":
      case "stepHeld":
      case "limitRaised":
      case "limitNeared":
      case "costReserved":
        return;
    }
  }

  #noteOutcome(event: StepSucceeded | StepFailed | QuestionAsked): void {
    if (event.usage !== undefined) this.usage = addUsage(this.usage, event.usage);
    const history = this.steps.get(event.path);
    if (history === undefined) return;
    history.startedAt ??= event.startedAt;
    // The cost of an outcome is the attempt's total, what was reported before included.
    history.costMicro += Math.max(0, (event.costMicro ?? 0) - reportedBy(history, event.attempt));
    if (event.unpriced === true) history.unpriced = true;
    if (event.usage !== undefined) history.usage = addUsage(history.usage, event.usage);
    if (event.type === "stepFailed") history.attemptFailure = { code: event.code, message: event.message };
    if (event.type === "approvalAsked") history.questions += 1;
    if (event.policies !== undefined) history.decisions = [...history.decisions, ...event.policies];
  }

  /** An event changes what is known of the calls of its own step only. */
  #noteUncertain(event: Event, before: { readonly micro: number; readonly unbounded: number }): void {
    const { openMicro, lostMicro, unbounded } = this.state.budget;
    const history = "path" in event ? this.steps.get(event.path) : undefined;
    if (history === undefined) return;
    history.uncertainMicro += openMicro + lostMicro - before.micro;
    history.unbounded += unbounded - before.unbounded;
  }

  #noteFailures(): void {
    const { failures } = this.state;
    for (; this.#failuresSeen < failures.length; this.#failuresSeen += 1) {
      const failure = failures[this.#failuresSeen];
      if (failure !== undefined) this.failures.set(failure.path, failure);
    }
  }
}

/** How often it was tried, for people: whoever goes on after a question has not failed. */
export function triesOf({ life, questions }: StepHistory): number {
  const attempts = life.is === "live" ? life.instance.attempt : life.attempt;
  return questions === 0 ? attempts : Math.max(1, attempts - questions);
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

function reportedBy({ reportedMicro }: StepHistory, attempt: number): number {
  return reportedMicro?.get(attempt) ?? 0;
}

/** Adds what models and tools count (tokens, turns, searches), name by name, also inside nested objects. Texts are left out. */
function addUsage(sum: JsonObject, usage: JsonObject): JsonObject {
  const added: { [name: string]: Json } = { ...sum };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (typeof value === "number") added[name] = (typeof before === "number" ? before : 0) + value;
    else if (isJsonObject(value)) added[name] = addUsage(isJsonObject(before) ? before : {}, value);
  }
  return added;
}
