import type { UseLimits, WhenFull } from "../graph/graph.ts";
import type { PolicyDecision } from "../graph/policy.ts";
import type { Json, JsonObject } from "../json.ts";

/**
 * Events are what has happened in a run, in the order of its journal. Every event carries its time (`at`, milliseconds since the
 * epoch) and the decisions that the core took on it, so that a rebuild reads decisions and evaluates nothing.
 * Values (inputs, outputs) are not in the event: they lie beside it in the journal, and their handle is the sequence number.
 */
export type Event =
  | RunStarted
  | RunHeld
  | RunResumed
  | PlaceTaken
  | StepStarted
  | StepSucceeded
  | StepFailed
  | StepProjected
  | StepInterrupted
  | StepRecorded
  | StepLogged
  | CostReserved
  | CostReported
  | CallResolved
  | WaitBegun
  | ApprovalAsked
  | QuestionAsked
  | ApprovalAnswered
  | ApprovalCounted
  | TimerFired
  | SignalReceived
  | CancelRequested
  | BudgetExhausted
  | StepHeld
  | LimitRaised
  | LimitNeared
  | RunFinished;

export type EventType = Event["type"];

interface EventCommon {
  readonly at: number;
  /** Written by the core, in the order in which it decided. Absent: it decided nothing. */
  readonly decided?: readonly Json[];
}

interface WithValue extends EventCommon {
  /** How long its value is as JSON, where that is more than 4 KiB. In journals of before nothing says so. */
  readonly bytes?: number;
}

/** Value: the input. */
interface InputTaken extends WithValue {
  /** What conditions compare of the input, and it has not; of a call also references of its input that led nowhere. */
  readonly missing?: readonly string[];
  /** Top-level names of the input: they settle what `{input.NAME}` means inside a fan-out. */
  readonly inputNames: readonly string[];
  readonly projected?: JsonObject;
  /** The secrets of the input, sealed so that only this installation can read them. */
  readonly sealed?: string;
}

export interface RunStarted extends InputTaken {
  readonly type: "runStarted";
  readonly runId: string;
  readonly workflow: string;
  /** Limits of this run, over those of the graph. */
  readonly maxCostMicro?: number;
  readonly uses?: UseLimits;
  /** A person is asked to raise a limit that is used up. Then the host holds the limits, not the core. Absent: the run stops. */
  readonly onExceeded?: "ask";
  /** Needed by a host to go on with the run elsewhere, e.g. the agent that answers its steps. */
  readonly options?: JsonObject;
  /** A rerun or fork: outcomes of that run are taken over, except of the step at `fromPath` and what depends on it. */
  readonly lineage?: { readonly kind: "rerun" | "fork"; readonly run: string; readonly fromPath: string };
  /** It begins when it has a place (`placeTaken`). */
  readonly place?: RunPlace;
  /** It begins at `startsAt` at the earliest, in this slot of its key. */
  readonly rate?: RunSlot & { readonly startsAt: number };
}

/** Of the runs with one key each begins in a slot of its own. */
export interface RunSlot {
  /** A hash of whose key it is and of its value. */
  readonly key: string;
  /** On the clock of the key, which is behind by as much as runs were late. */
  readonly slot: number;
}

/** What a run shares with others: of those with one key at most `limit` have a place. */
export interface RunPlace {
  /** A hash of whose key it is and of its value. */
  readonly key: string;
  readonly limit: number;
  readonly whenFull: WhenFull;
  /** It has its place until it begins, which it does so long after its start. */
  readonly waitMs?: number;
}

/** A person has suspended the run. It stays so until a person resumes it, even if processes start and end meanwhile. */
interface RunHeld extends EventCommon {
  readonly type: "runHeld";
}

/** The run goes on after it was parked or held. */
export interface RunResumed extends EventCommon {
  readonly type: "runResumed";
  /** A person wants it: steps that were held go on too, and the deaths that counted against steps are forgotten. */
  readonly releases?: true;
  /** It has given its place away, and goes on when it has another. */
  readonly queues?: true;
}

/** What has waited for a place takes effect: the start of the run, or that it was resumed. */
interface PlaceTaken extends EventCommon {
  readonly type: "placeTaken";
}

/** Value: the bound input, secrets masked. Left out where the outcome lands in the same commit. */
export interface StepStarted extends WithValue {
  readonly type: "stepStarted";
  readonly path: string;
  readonly attempt: number;
  /** When it began, where other events were recorded before it was. */
  readonly startedAt?: number;
  /** A suspect: how many of them begin together. */
  readonly flight?: number;
}

/** Value: the output. */
export interface StepSucceeded extends WithValue {
  readonly type: "stepSucceeded";
  readonly path: string;
  readonly attempt: number;
  readonly startedAt?: number;
  /** Milliseconds in which its calls waited for a free place at a server, and nothing of it was under way. Absent: none. */
  readonly waitedMs?: number;
  /** Hash of the bound input: a rerun takes the outcome over only if it is equal. */
  readonly inputHash?: string;
  /** The output is null: nothing to load. */
  readonly empty?: boolean;
  readonly costMicro?: number;
  /** Some cost has no known price. */
  readonly unpriced?: boolean;
  readonly usage?: JsonObject;
  /** The model had to be asked again before its answer fitted the schema. */
  readonly repaired?: boolean;
  readonly projected?: JsonObject;
  readonly assigned?: JsonObject;
  /** Taken over from another run: nothing was done or paid. */
  readonly reused?: { readonly run: string; readonly seq: number };
  /** Decisions of policies about the output: a rebuild asks no policy. */
  readonly policies?: readonly PolicyDecision[];
  /** References that led nowhere, as they are written: of its input, and what conditions compare of its output. */
  readonly missing?: readonly string[];
}

/** Value: the details, where there are some. */
export interface StepFailed extends EventCommon {
  readonly type: "stepFailed";
  readonly path: string;
  readonly attempt: number;
  readonly startedAt?: number;
  /** As of `stepSucceeded`. */
  readonly waitedMs?: number;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly effect: Effect;
  /** The failure is the answer to the work: another try is another piece of work. */
  readonly answered?: true;
  readonly inputHash?: string;
  readonly costMicro?: number;
  readonly unpriced?: boolean;
  readonly usage?: JsonObject;
  readonly projected?: JsonObject;
  readonly assigned?: JsonObject;
  readonly policies?: readonly PolicyDecision[];
  /** As of `stepSucceeded`. */
  readonly missing?: readonly string[];
  /** A budget has nothing more for the step, which is no failure of its own: the run ends. */
  readonly outspent?: {
    /** In journals of before, where attempts were promised a part of a budget: the step waited for more. */
    readonly promisedMicro?: number;
  };
}

/** The projection of an outcome without an executor: a nested flow, a call, a wait, an approval. */
export interface StepProjected extends EventCommon {
  readonly type: "stepProjected";
  readonly path: string;
  readonly projected?: JsonObject;
  /** As of `stepSucceeded`. */
  readonly missing?: readonly string[];
  readonly assigned?: JsonObject;
}

/** The effect of a failed attempt outside. Only `none` is safe to repeat for an `at_most_once` step. */
export type Effect = "none" | "unknown" | "done";

/** The process that ran the attempt is gone (`crash`), or it parked the attempt on purpose (`parked`). */
export interface StepInterrupted extends EventCommon {
  readonly type: "stepInterrupted";
  readonly path: string;
  readonly attempt: number;
  readonly cause: "crash" | "parked";
  /** False: the attempt had not begun, so that it can do so even if only once, and no death counts against it. */
  readonly hasBegun?: false;
  /** The process died while no suspect of the run was at work: something else kills it too. */
  readonly apart?: true;
  /** The last sign of life of the process. Absent with `crash`: recorded when the third death failed an attempt. */
  readonly diedAt?: number;
  /** What has died, where it was not the process but a program that worked for the attempt. */
  readonly reason?: string;
  /** The death counts against the attempt. */
  readonly counts?: true;
  /** The step is found out: it rests until a person resumes the run. */
  readonly holds?: true;
}

/** Value: durable progress inside a step, e.g. one turn of an agent. */
interface StepRecorded extends WithValue {
  readonly type: "stepRecorded";
  readonly path: string;
  readonly attempt: number;
  readonly key: string;
  /** What the process that drives the run has not, and the step waits for. With the key `LACKS`; absent: it is there. */
  readonly lacks?: string;
}

export const LACKS = "lacks";

/** Value: the event log of an attempt, as the executor emitted it. */
export interface StepLogged extends WithValue {
  readonly type: "stepLogged";
  readonly path: string;
  readonly attempt: number;
}

/** A call that is paid for is about to be sent. Durable before it is. */
export interface CostReserved extends EventCommon {
  readonly type: "costReserved";
  readonly path: string;
  readonly attempt: number;
  /** Counts the calls of the attempt, from 1. */
  readonly call: number;
  /** Absent: its cost has no known bound. */
  readonly atMostMicro?: number;
}

/** Money spent before the outcome is known. */
export interface CostReported extends EventCommon {
  readonly type: "costReported";
  readonly path: string;
  readonly attempt: number;
  readonly costMicro: number;
  /** The reserved call that has cost it. */
  readonly call?: number;
  /** The cost of the call is unknown: at least `costMicro`, and it may be as much as was reserved for it. */
  readonly uncertain?: true;
  /** The call was refused, and nothing was done. */
  readonly refused?: true;
}

export interface CallResolved extends InputTaken {
  readonly type: "callResolved";
  readonly path: string;
  readonly graph: string;
  readonly workflow: string;
  /** How long the called run may take, where the call's terms say so. */
  readonly timeoutMs?: number;
}

/** The target of a wait, if it had to be computed. */
export interface WaitBegun extends EventCommon {
  readonly type: "waitBegun";
  readonly path: string;
  readonly until?: number;
  readonly signal?: string;
  /** As of `stepSucceeded`. */
  readonly missing?: readonly string[];
}

/** An approval step asks. Value: what is shown, and the output if it is approved unchanged. */
export interface ApprovalAsked extends WithValue {
  readonly type: "approvalAsked";
  readonly path: string;
  readonly attempt?: undefined;
  readonly message: string;
  /** As of `stepSucceeded`. */
  readonly missing?: readonly string[];
}

/**
 * A task asks: that is how this attempt has ended. Its cost is booked, nothing of it runs any more, and the same
 * generation goes on with another attempt once there is an answer. Value: what is shown.
 */
export interface QuestionAsked extends WithValue {
  readonly type: "approvalAsked";
  readonly path: string;
  readonly attempt: number;
  readonly startedAt?: number;
  /** As of `stepSucceeded`. */
  readonly waitedMs?: number;
  readonly message: string;
  /** Under which the task finds the answer among its records. */
  readonly key: string;
  readonly allowEdit?: boolean;
  /** What the data of an approval must satisfy. */
  readonly schema?: JsonObject;
  readonly policies?: readonly PolicyDecision[];
  readonly costMicro?: number;
  readonly unpriced?: boolean;
  readonly usage?: JsonObject;
}

/** A person, as a key proves or the program says that embeds the engine. The name counts: keys of one name are one person. */
export interface Identity {
  readonly name: string;
  /** The id of the key. */
  readonly key?: string;
}

/** Who answered, for people: the one who is known, else by which way the answer came. */
export function answeredBy({ who, by }: Pick<ApprovalAnswered, "who" | "by">): string | undefined {
  return who?.name ?? by;
}

/** Value: of an approval step the edited data, where `edited`; for a task the whole answer, as it reads it. */
export interface ApprovalAnswered extends EventCommon {
  readonly type: "approvalAnswered";
  readonly path: string;
  readonly answer: "approve" | "reject" | "skip";
  /** What the caller says: a name of a program, or by which way it came. */
  readonly by?: string;
  /** Absent: the operator. */
  readonly who?: Identity;
  readonly comment?: string;
  readonly edited?: boolean;
  /** Taken over from another run, where the same was asked: no person was asked again. */
  readonly reused?: { readonly run: string; readonly seq: number };
}

/** One of several who must approve has, and others are waited for. The last one is in `approvalAnswered`. */
export interface ApprovalCounted extends EventCommon, Pick<ApprovalAnswered, "path" | "by" | "who" | "comment"> {
  readonly type: "approvalCounted";
}

export interface TimerFired extends EventCommon {
  readonly type: "timerFired";
  readonly timer: string;
  /** It was too early: the timer fires again then. */
  readonly again?: number;
}

/** An idempotency key, and the hash of what came with it. */
export interface SentKey {
  readonly key: string;
  readonly hash: string;
}

/** Value: the payload. */
export interface SignalReceived extends EventCommon {
  readonly type: "signalReceived";
  readonly name: string;
  /** With which it was sent. Absent: none. */
  readonly key?: SentKey;
}

/** A second one ends the run without waiting for running tasks. */
interface CancelRequested extends EventCommon {
  readonly type: "cancelRequested";
  readonly by?: string;
  readonly reason?: string;
}

/** A budget that the host holds has nothing left for the attempt, which has not begun: the run stops. */
export interface BudgetExhausted extends EventCommon {
  readonly type: "budgetExhausted";
  readonly path: string;
  readonly attempt: number;
  readonly message: string;
}

/** The attempt has not begun and is taken back: a person is asked about the budget, or there is nothing to take over. */
export interface StepHeld extends EventCommon {
  readonly type: "stepHeld";
  readonly path: string;
  readonly attempt: number;
}

/** A person has allowed the run more. */
export interface LimitRaised extends EventCommon {
  readonly type: "limitRaised";
  /** The question that was answered so: an answer raises once. */
  readonly id: string;
  readonly by: Amounts;
}

/** 80 % of a budget that the run shares with others are used. Changes nothing. */
interface LimitNeared extends EventCommon {
  readonly type: "limitNeared";
  readonly budget: string;
  readonly of: keyof Amounts;
  readonly limit: number;
  readonly used: number;
}

/** Money in micro-dollars, time in milliseconds. */
export interface Amounts {
  readonly cost?: number;
  readonly tokens?: number;
  readonly tries?: number;
  readonly duration?: number;
}

interface RunFinished extends EventCommon {
  readonly type: "runFinished";
  readonly status: FinalStatus;
  readonly code?: string;
  readonly message?: string;
}

export type FinalStatus = "completed" | "partial" | "failed" | "cancelled" | "budget_exceeded";
