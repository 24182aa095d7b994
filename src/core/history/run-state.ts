import type { UseLimits } from "../graph/graph.ts";
import type { IndexedFlow, IndexedGraph, IndexedStep } from "../graph/indexed-graph.ts";
import type { Shape } from "../graph/shape.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Queue } from "../queue.ts";
import type { Amounts, FinalStatus, RunPlace, RunResumed, RunStarted } from "./events.ts";

/**
 * The state of one run: a fold over its events, owned by the caller and updated in place. It holds handles, never
 * values, and nothing that could not be written down.
 */
export interface RunState {
  runId: string;
  workflow: string;
  /** Number of events applied. */
  seq: number;
  /** The latest time seen: an event from a slow clock does not turn it back. */
  now: number;
  startedAt: number;
  /** `finishing`: decided, `runFinished` not yet recorded. */
  phase: "new" | "open" | "finishing" | "finished";
  ending: { status: FinalStatus; code?: string; message?: string } | undefined;
  /** Why the run stops early. Cancel wins over the others. */
  stopping: "cancelled" | "budget" | "timeout" | undefined;
  root: Scope | undefined;
  readonly graph: IndexedGraph;
  /** Graphs of calls by hash: the host adds one before it applies the `callResolved` that names it. */
  readonly graphs: Map<string, IndexedGraph>;
  readonly active: Map<string, Instance>;
  readonly timers: Map<string, number>;
  /** Unread signals: sequence numbers by name, in order. */
  readonly signals: Map<string, number[]>;
  /** The hash of what came with each idempotency key of a signal. */
  readonly signalKeys: Map<string, string>;
  /** By signal, longest waiting first. */
  readonly waiters: Map<string, Set<Instance>>;
  /** Approvals that were answered, by path and in order, to refuse a second answer. */
  readonly answers: Map<string, Answer[]>;
  /** Tasks that were given up while they ran: the part of their cost that is booked already. */
  readonly orphans: Map<string, number>;
  /** Paid calls whose cost is not known, by attempt (`path@attempt`) and number. */
  readonly paidCalls: Map<string, Map<number, PaidCall>>;
  readonly blocked: Queue<Instance>;
  /** Items that could begin, and do with a timer: an event has made too many ready. */
  readonly later: Queue<ItemRange & { readonly visit: number }>;
  /** So many instances begin with one event: then others have their turn, and what has begun becomes durable. */
  readonly mostBegun: number;
  /** Parked with its process, or held by a person, until it is resumed: no task is dispatched. */
  isSuspended: boolean;
  /** Held by a person: only `runResumed` makes it go on. */
  isHeld: boolean;
  place: RunPlace | undefined;
  /** The event that takes effect when the run has a place, and its slot has come. */
  queued: RunStarted | RunResumed | undefined;
  readonly budget: Budget;
  /** What its values of more than 4 KiB take together, as JSON. */
  storedBytes: number;
  /** A rerun or fork: another run may have done already what a task would do. */
  reusesOutcomes: boolean;
  tasksInFlight: number;
  approvalsOpen: number;
  /** Steps that took the process down and rest until a person resumes the run. */
  stepsHeld: number;
  visits: number;
  /** Some step or item failed and was skipped. */
  partial: boolean;
  /** Final failures that no `catch` took, no transition answered and no retry mended. */
  readonly failures: FailedStep[];
  /** Who reads a history may ask for it. `path`: of all items of a step together, where it is about a transition. */
  readonly noteWay?: NoteWay | undefined;
}

/** `taken`: the number of the transition (-1: none), or whether the condition of a step held. */
export type NoteWay = (path: string, taken: number | boolean) => void;

export interface FailedStep {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** Failures of a flow. They are forgotten if the flow is caught or tried again. */
export interface Losses {
  partial: boolean;
  readonly failures: FailedStep[];
}

/** Items of a step that are ready. */
export interface ItemRange {
  readonly scope: Scope;
  readonly step: number;
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

interface Answer {
  /** The event that asked: a task may ask again and again at one path. */
  readonly askedSeq: number;
  readonly answer: "approve" | "reject" | "skip";
  readonly by: string | undefined;
}

export interface PaidCall {
  /** Undefined: its cost has no known bound. */
  readonly atMostMicro: number | undefined;
  /**
   * `open`: in flight. `lost`: its attempt is over, and may yet tell. `unknown`: its cost will never be told.
   */
  is: "open" | "lost" | "unknown";
}

export interface Budget {
  /** Integer micro-dollars. Undefined: no limit. */
  limitMicro: number | undefined;
  spentMicro: number;
  /** The most that calls in flight may cost, and calls whose cost will hardly ever be known. */
  openMicro: number;
  lostMicro: number;
  /** How many of these calls have no upper bound. */
  unbounded: number;
  /** What attempts have cost that have ended, by step key. */
  readonly costs: Map<string, { count: number; micro: number }>;
  unpriced: boolean;
  uses: UseLimits;
  /** Limits that a person may raise. The host holds them; the core only remembers. */
  asks: Amounts | undefined;
  /** Those limits before the first raise. */
  set: Amounts;
  /** Questions whose answer has raised them. */
  readonly raisedBy: string[];
  /** The path of the task that asks a person to raise a limit. Until there is an answer no task begins. */
  question: string | undefined;
  /** The host's message when a budget that it holds had nothing left. */
  exhausted: string | undefined;
  /** Used by attempts that are over. */
  tokens: number;
  tries: number;
}

/** One run of a graph: the root, or a call. Names of inputs mean its input. */
export interface Frame {
  readonly graph: IndexedGraph;
  readonly inputHandle: number;
  readonly inputNames: ReadonlySet<string>;
  readonly known: JsonObject | undefined;
  readonly depth: number;
  /** Depth of the deepest call inside it so far; its own where there was none. */
  deepest: number;
  /** How long it may take, where its call says so. */
  readonly timeoutMs: number | undefined;
}

/** One pass through a flow. */
export interface Scope {
  readonly path: string;
  readonly role: "root" | "body" | "catch" | "finally";
  readonly frame: Frame;
  readonly flow: IndexedFlow;
  readonly parent: Instance | undefined;
  readonly shape: Shape;
  /** A step of a dag has one from when what it needs is there; a step of a machine from its first visit. */
  readonly steps: (StepState | undefined)[];
  /** Dag: by step, the dependencies outside its own fan-out that have not ended. */
  readonly gates: number[];
  readonly live: Set<Instance>;
  readonly variables: Map<string, Variable>;
  phase: "open" | "failing" | "cancelling" | "ended";
  /** Dag: steps that have not ended. */
  unsettled: number;
  visits: number;
  /** Machine: the step visited last. */
  visited: number | undefined;
  failure: Failure | undefined;
  /** Only in a scope inside another one: the losses of the root are the run's. */
  losses: Losses | undefined;
  /** The scope's value, if a step has set it. */
  result: Handle | undefined;
  /** It has its output, and what still runs is told to stop. */
  isWon?: boolean;
}

export interface Variable {
  /** Event whose `assigned` holds it; 0: the flow's first value. */
  readonly seq: number;
  /** Kept where control reads it. */
  readonly value: Json | undefined;
}

/** The latest activation of a step in its scope. */
export interface StepState {
  /** Visit in a machine, from 1; 0 in a dag. */
  readonly visit: number;
  /** Items; `SINGLE_ITEM` for one instance without index; `UNOPENED` before it is known. */
  items: number;
  phase: "closed" | "open" | "settled";
  /** By item. */
  status: InstanceStatus[];
  handle: Handle[];
  known: (JsonObject | undefined)[] | undefined;
  /** Followers of a fan-out: dependencies inside it that the item still waits for. */
  need: number[] | undefined;
  /** Items whose own needs are met while the gate is closed. */
  held: number[] | undefined;
  /** Items beyond the window. */
  queue: Queue<number> | undefined;
  /** Instances that have their answer and wait for a place in the window. They go before `queue`. */
  answered: Queue<Instance> | undefined;
  running: number;
  /** How many of those hold no place in the window, since they wait for a person. */
  asking: number;
  settled: number;
  failure: Failure | undefined;
  /** In a machine: what its scope had lost when this visit began. */
  lossesBefore: LossMark | undefined;
  /** The visit before: its output is the step's until this one ends. */
  prior: StepState | undefined;
}

/** How much was lost at some moment. */
export interface LossMark {
  readonly failures: number;
  readonly partial: boolean;
}

export const SINGLE_ITEM = -1;
export const UNOPENED = -2;

/**
 * The status of an instance. `lost`: failed for good and skipped; `resumed`: failed for good, dependants run with
 * null; `skipped`: not run, or skipped by a person.
 */
export type InstanceStatus =
  | "pending"
  | "running"
  | "succeeded"
  | "failed"
  | "lost"
  | "resumed"
  | "skipped"
  | "cancelled";

/** The place of a value: its event (0: null), a failure, a fan-out's outputs, or those of a flow's steps. */
export type Handle =
  | number
  | { readonly kind: "failure"; readonly failure: Failure }
  | { readonly kind: "report"; readonly report: CallReport }
  | { readonly kind: "list"; readonly handles: readonly Handle[] }
  | { readonly kind: "steps"; readonly steps: readonly (readonly [id: string, handle: Handle])[] };

/** The end of a call, for a caller that wants a report instead of a failure. */
export interface CallReport {
  readonly output: Handle;
  /** Undefined: the called run succeeded. */
  readonly failure: Failure | undefined;
  /** The failure is that of the call's own time-out. */
  readonly hasTimedOut: boolean;
  /** The step of a machine that was visited last; undefined where none was. */
  readonly step: string | undefined;
  readonly visits: number;
  /** How deeply calls were nested inside the called run. */
  readonly depth: number;
  readonly elapsedMs: number;
  /** How long the called run might take, where its call said so. */
  readonly timeoutMs: number | undefined;
  readonly variables: JsonObject;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  /** Event that holds the details; 0: none. */
  readonly seq: number;
}

/** A step instance that has begun and not ended. */
export interface Instance {
  readonly path: string;
  readonly scope: Scope;
  readonly step: IndexedStep;
  /** Index in the fan-out, `SINGLE_ITEM` without one. */
  readonly item: number;
  readonly visit: number;
  phase: InstancePhase;
  /** Counts dispatches. */
  attempt: number;
  /** Failed attempts that the retry policy counts. */
  failures: number;
  /** The recent deaths of the process that count against it, since something new was put on record. */
  deaths: readonly Death[];
  /** Deaths while it waited for its turn as a suspect, and no other one was at work. */
  deathsApart: number;
  /** All of them, in a journal of the time when the third one failed the attempt. */
  uncheckedDeaths: number;
  /** The start of the attempt in flight is on record. */
  begun: boolean;
  /** How many suspects began together with it; 0: it is none. */
  flight: number;
  generation: number;
  /** The cost of all attempts. `attemptCostMicro`: of the one in flight, as far as it is known. */
  costMicro: number;
  attemptCostMicro: number;
  /** Reserved calls of the attempt in flight that were not refused. */
  callsSent: number;
  /** Its calls whose cost is not known, over all attempts. */
  lostMicro: number;
  startedAt: number;
  /** The scope of a nested flow, call, catch or finally. */
  child: Scope | undefined;
  /** The latest try that has ended, for the steps of `catch` and `finally`, which read what its steps have given. */
  tried: Scope | undefined;
  failure: Failure | undefined;
  /** The outcome, while it is projected or `finally` runs. */
  outcome: InstanceOutcome | undefined;
  /** The event with what a person is shown; 0: not asked yet. */
  askedSeq: number;
  /** Names of those who have approved it, where several must. */
  approvedBy: readonly string[] | undefined;
  /** How often was reminded of the open question, and whether it has been escalated. */
  reminded: number;
  isEscalated: boolean;
  /** The question of a task to a person, or why it is held. Until the task goes on, it has no place in the window of its fan-out. */
  question: Question | undefined;
  /** Sequence numbers of durable records inside the step, by key. */
  records: Map<string, number> | undefined;
  signal: string | undefined;
}

/** The process, or a program that worked for it, died with an attempt in flight. */
export interface Death {
  readonly at: number;
  /** What has died, where it was not the process. */
  readonly reason: string | undefined;
  /** How many suspects had begun together; 0: all were in flight that there were. */
  readonly flight: number;
}

export interface Question {
  readonly key: string;
  readonly allowEdit: boolean;
}

export type InstancePhase =
  /** Waits for a free place or for the budget. */
  | "blocked"
  /** Handed to the host: a task runs. */
  | "dispatched"
  /** Parked on purpose; goes on when the run is resumed. */
  | "parked"
  /** It took the process down; goes on when a person resumes the run. */
  | "held"
  /** Handed to the host to be bound: set, respond, call, approval, wait. */
  | "binding"
  | "projecting"
  | "backoff"
  | "waiting"
  | "approval"
  /** A task has its answer and waits for a place in the window of its fan-out. */
  | "answered"
  | "body"
  | "catch"
  | "finally";

export type InstanceOutcome =
  | { readonly status: "succeeded"; readonly handle: Handle; readonly known: JsonObject | undefined }
  | { readonly status: "failed"; readonly failure: Failure; readonly known: JsonObject | undefined }
  | { readonly status: "skipped" | "cancelled" };
