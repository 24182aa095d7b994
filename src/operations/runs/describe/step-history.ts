import type { IndexedStep } from "../../../core/graph/indexed-graph.ts";
import type { PolicyDecision } from "../../../core/graph/policy.ts";
import type {
  Handle,
  Instance,
  InstancePhase,
  InstanceStatus,
  Scope,
  StepState,
} from "../../../core/history/run-state.ts";
import { explainHeld } from "../../../core/interpreter/attempt/crashes.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { StepStatus } from "../run-schemas.ts";

export interface StepFailure {
  readonly code: string;
  readonly message: string;
}

/** One attempt of a step instance, from when it could begin to its end. Times are milliseconds since the epoch. */
export interface Attempt {
  readonly attempt: number;
  /** Since then nothing but a free place, money or its executor was missing. */
  readonly queuedAt: number;
  startedAt: number | undefined;
  /** Of its time, waited for a free place at a server. */
  waitedMs: number;
  endedAt: number | undefined;
  status: "running" | "completed" | "failed" | "interrupted" | "asked" | "cancelled";
  failure: StepFailure | undefined;
  /** What was reported before the outcome included. */
  costMicro: number;
  unpriced: boolean;
  usage: JsonObject;
  /** The run that its outcome was taken over from. */
  reusedFrom: string | undefined;
  /** The event that has ended it; 0: none. */
  endSeq: number;
}

/** A time in which a step instance rested. */
export interface Wait {
  readonly kind: "retry" | "timer" | "event" | "person" | "held";
  readonly since: number;
  until: number | undefined;
  /** When time alone ends it. */
  readonly wakeAt: number | undefined;
  readonly event: string | undefined;
}

type StepLife =
  | { readonly is: "live"; readonly instance: Instance; readonly state: StepState }
  | {
      readonly is: "ended";
      readonly at: number;
      readonly attempt: number;
      readonly status: InstanceStatus;
      readonly handle: Handle;
      /** Why it has failed for good. */
      readonly failure: StepFailure | undefined;
    };

export class StepHistory {
  readonly path: string;
  readonly scope: Scope;
  readonly step: IndexedStep;
  /** Index in the fan-out, -1 without one. */
  readonly item: number;
  /** How many items its fan-out has, -1 without one. */
  readonly items: number;
  readonly beganAt: number;
  life: StepLife;
  readonly attempts: Attempt[] = [];
  readonly waits: Wait[] = [];
  /** Since then the next attempt could begin. */
  queuedAt: number;
  /** What its calls may have cost beside it whose cost is not known, and how many of them have no bound. */
  uncertainMicro = 0;
  unbounded = 0;
  /** The event with what its latest attempt or its call was given, or a person was shown; 0: none. */
  givenSeq = 0;
  /** The event that holds the latest attempt's log; 0: none. */
  logSeq = 0;
  decisions: readonly PolicyDecision[] = [];
  /** What the process that drives the run has not. */
  lacks: string | undefined;
  /** References of its latest input that led nowhere. */
  missing: readonly string[] = [];

  constructor(instance: Instance, state: StepState, now: number) {
    const { path, scope, step, item } = instance;
    this.path = path;
    this.scope = scope;
    this.step = step;
    this.item = item;
    this.items = state.items;
    this.beganAt = now;
    this.queuedAt = now;
    this.life = { is: "live", instance, state };
  }

  get status(): StepStatus {
    const { life } = this;
    if (life.is !== "live") return statusOfEnd(life.status);
    return this.lacks === undefined ? statusOfPhase(life.instance.phase) : "held";
  }

  /** The event with what the latest attempt of a task was given; 0: none. */
  get inputSeq(): number {
    return this.step.step.kind === "task" ? this.givenSeq : 0;
  }

  /** How often it was tried, for people: whoever goes on after a question has not failed. */
  get tries(): number {
    const { attempt } = this.life.is === "live" ? this.life.instance : this.life;
    const questions = this.attempts.filter(({ status }) => status === "asked").length;
    return questions === 0 ? attempt : Math.max(1, attempt - questions);
  }

  /** A task starts when its executor gets it, anything else when its turn has come. */
  get startedAt(): number | undefined {
    if (this.step.step.kind !== "task") return this.beganAt;
    const { life } = this;
    const recorded = this.attempts.find(({ startedAt }) => startedAt !== undefined)?.startedAt;
    return recorded ?? (life.is === "live" && life.instance.attempt > 0 ? life.instance.startedAt : undefined);
  }

  get costMicro(): number {
    return this.attempts.reduce((sum, { costMicro }) => sum + costMicro, 0);
  }

  get unpriced(): boolean {
    return this.attempts.some(({ unpriced }) => unpriced);
  }

  get usage(): JsonObject {
    return this.attempts.reduce<JsonObject>((sum, { usage }) => addUsage(sum, usage), {});
  }

  /** Why it is held, why it failed for good, or why the attempt before failed. */
  get failure(): StepFailure | undefined {
    const { life, status } = this;
    if (life.is === "ended") return life.failure;
    if (this.lacks !== undefined) return { code: "PROGRAM_MISSING", message: this.lacks };
    return status === "held" ? explainHeld(life.instance) : status === "retrying" ? this.attemptFailure : undefined;
  }

  /** The error of the latest failed attempt, whatever followed. */
  get attemptFailure(): StepFailure | undefined {
    return this.attempts.findLast(({ failure }) => failure !== undefined)?.failure;
  }

  /** With the one whose start is not yet on record. */
  get begunAttempts(): readonly Attempt[] {
    const { attempts, life } = this;
    if (life.is !== "live" || this.step.step.kind !== "task") return attempts;
    const { attempt, phase, startedAt } = life.instance;
    if (phase !== "dispatched" || attempts.at(-1)?.attempt === attempt) return attempts;
    return [...attempts, newAttempt({ attempt, queuedAt: startedAt, startedAt })];
  }
}

/** An attempt of which no end is known. */
export function newAttempt(
  begun: Pick<Attempt, "attempt" | "queuedAt"> & { readonly startedAt: number | undefined },
): Attempt {
  return {
    ...begun,
    waitedMs: 0,
    endedAt: undefined,
    status: "running",
    failure: undefined,
    costMicro: 0,
    unpriced: false,
    usage: {},
    reusedFrom: undefined,
    endSeq: 0,
  };
}

export function statusOfPhase(phase: InstancePhase): StepStatus {
  switch (phase) {
    case "blocked":
    case "parked":
    case "answered":
      return "pending";
    case "dispatched":
    case "binding":
    case "projecting":
    case "body":
    case "catch":
    case "finally":
      return "running";
    case "backoff":
      return "retrying";
    case "waiting":
      return "waiting";
    case "approval":
      return "awaiting_approval";
    case "held":
      return "held";
  }
}

export function statusOfEnd(status: InstanceStatus): StepStatus {
  switch (status) {
    case "pending":
    case "running":
    case "skipped":
    case "cancelled":
      return status;
    case "succeeded":
      return "completed";
    case "failed":
    case "lost":
    case "resumed":
      return "failed";
  }
}

/** Adds what models and tools count (tokens, turns, searches), name by name, also inside nested objects. Texts are left out. */
export function addUsage(sum: JsonObject, usage: JsonObject): JsonObject {
  const added: { [name: string]: Json } = { ...sum };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (typeof value === "number") added[name] = (typeof before === "number" ? before : 0) + value;
    else if (isJsonObject(value)) added[name] = addUsage(isJsonObject(before) ? before : {}, value);
  }
  return added;
}
