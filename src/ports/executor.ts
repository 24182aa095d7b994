import type { Effect, FinalStatus } from "../core/history/events.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Reach } from "../core/trust/grant.ts";
import type { FileStorage } from "./file-storage.ts";
import type { WorkCall } from "./run-observer.ts";

/** Does outside work. The host handles time-outs, retries and limits. It must return soon after `signal` aborts, with the cost so far. */
export interface Executor<End extends Outcome | Asks = Outcome | Asks> {
  /** Keep the bound input with the attempt, e.g. the prompt of an agent. */
  readonly recordsInput: boolean;
  /** The input as it may be recorded. Absent: as it is. */
  toRecorded?(task: Task): Promise<Json>;
  /** The work is done by others, over the network: whatever it is, it cannot take this process down. */
  readonly runsElsewhere?: true;
  /** It does nothing outside before it has put a call on record with `reserve`: without one the attempt has not begun. */
  readonly reservesCalls?: true;
  run(task: Task, signal: AbortSignal): Promise<End>;
  /** The cost in micro-dollars of a call that a crash cut off, if its payee keeps a record. Undefined: it is not certain. Never rejects. */
  findCost?(call: LostCall, signal: AbortSignal): Promise<number | undefined>;
  /** A run that it has worked for in this process has ended: what it keeps for the run can go. */
  runEnded?(run: EndedRun): Promise<void>;
}

export interface LostCall {
  /** Of its task, as it is on record. */
  readonly input: Json;
  /** The graph's `settings`. */
  readonly settings: JsonObject;
  /** As in the task. */
  readonly reach?: Reach | undefined;
  readonly reservedAt: number;
  /** It was sent before, if at all. */
  readonly until: number;
}

export interface EndedRun {
  readonly runId: string;
  readonly status: FinalStatus;
  /** The options that the run was started with. */
  readonly options: JsonObject;
}

export interface Task {
  readonly runId: string;
  readonly workflow: string;
  readonly stepId: string;
  readonly path: string;
  /** Counts dispatches, from 1. */
  readonly attempt: number;
  /** Equal for every attempt whose effect may be the same one: run, path and generation. */
  readonly idempotencyKey: string;
  /** It may not be repeated while it is unknown what it did. */
  readonly atMostOnce?: boolean | undefined;
  /** Fully bound; what it means is between the dialect and the executor. */
  readonly input: Json;
  /** The graph's `settings`. */
  readonly settings: JsonObject;
  /** A JSON Schema of what other steps read of the output, for answers that are made up. Undefined: nothing in particular. */
  readonly inferredSchema?: JsonObject | undefined;
  /** What it may spend is limited, by its step or by a budget. */
  readonly isLimited?: boolean;
  readonly timeoutMs?: number | undefined;
  /** W3C trace context, for programs elsewhere that work for this attempt. */
  readonly traceParent?: string | undefined;
  /** The tenant of the run. Absent: the application itself. */
  readonly tenantId?: string | undefined;
  /** Addresses that the definition may name beside the public ones. Absent: all, since the operator wrote it. */
  readonly reach?: Reach | undefined;
  /** Of the run: where calls wait for a server, the highest goes first. Absent: 0. */
  readonly priority?: number | undefined;
  /** The stored files of the run's tenant. */
  readonly files: FileStorage;
  /** Progress for the live view and the attempt's log. Never blocks. */
  emit(progress: Progress): void;
  /** Reserves money for a paid call, and waits until budgets allow it. A failure is the attempt's outcome. The reservation must be released. */
  reserve(call: PaidCall): Promise<Reservation | Failed>;
  /** Durable progress inside the step: resolves when committed. */
  record(key: string, value: Json): Promise<void>;
  /** Records of earlier, interrupted attempts of the same generation. */
  recorded(key: string): Promise<Json | undefined>;
}

export interface PaidCall {
  /** The most that it can cost, in integer micro-dollars. Undefined: it is not known. */
  readonly atMostMicro: number | undefined;
  /** The least that makes it worth sending. Absent: its bound. */
  readonly leastMicro?: number | undefined;
  /** The cost of a whole attempt as it is planned. Absent: that of this call. */
  readonly plannedMicro?: number | undefined;
  /** For a warning: who is paid. */
  readonly payee: string;
}

export interface Reservation {
  /** What the call may cost. Undefined: nothing limits it, and its bound is not known. */
  readonly atMostMicro: number | undefined;
  /** It is all that is left, and less than was asked for. */
  readonly loweredBy?: "step" | "budget" | undefined;
  /** Records the call: it may be sent once this resolves, and must be settled. A refused call may be recorded and sent again. */
  record(): Promise<SettleCall>;
  /** Nothing more is sent with it. */
  release(): void;
}

/**
 * The cost of a call, in integer micro-dollars. `null`: it is not known, and it may have cost as much as was reserved. The cost of the
 * outcome is the total, this included. `doubted`: what the payee says cannot be true, so that the call may have cost more, up to what was
 * reserved. `refused`: nothing was done.
 */
export type SettleCall = (costMicro: number | null, how?: "doubted" | "refused") => void;

export type Progress =
  | { readonly type: "log"; readonly event: Json }
  /** For watchers only, e.g. pieces of a text: never stored, and dropped for slow readers. Secrets are masked across the `text` of events. */
  | { readonly type: "live"; readonly event: JsonObject }
  /** It waits for a server that can do no more at once, or no longer. Meanwhile its time-out stands still. */
  | { readonly type: "capacity"; readonly isWaiting: boolean }
  /** The process has not what the step needs, which is on record for people, or has it now. Meanwhile its time-out stands still. */
  | { readonly type: "lacks"; readonly what: string | undefined }
  /** A call of a model or a tool that is over, for who observes: never stored. */
  | { readonly type: "call"; readonly call: WorkCall };

/** The work is over, well or not. */
export type Outcome = Succeeded | Failed;

interface Spent {
  /** Integer micro-dollars. `null`: something was used whose price is unknown. Booked on failures too. */
  readonly costMicro: number | null;
  readonly usage?: JsonObject;
}

export interface Succeeded extends Spent {
  readonly status: "succeeded";
  readonly output: Json;
  readonly repaired?: boolean;
  /** Files that the work produced; they become artifacts. */
  readonly files?: readonly ProducedFile[];
}

export interface Failed extends Spent {
  readonly status: "failed";
  /** A code of the error table, or the outside program's own. */
  readonly code: string;
  readonly message: string;
  readonly details?: Json;
  readonly retryable: boolean;
  /** The effect of all attempts of this generation. `none`: the next one begins without their records and answers. */
  readonly effect: Effect;
  /** The other side has answered, with a failure: with the same idempotency key it would only say so again. */
  readonly isAnswered?: true;
  /** The program that did the work has died, which is no answer: judged like a death of this process, not as a failure. */
  readonly workerDied?: true;
  /**
   * A budget has nothing more for it, or what was left was too little: the run ends, or a person is asked for more. `goesOn`: another
   * attempt goes on with what this one has on record. Else it begins from its start again.
   */
  readonly outspent?: { readonly goesOn: boolean };
}

/**
 * The work cannot go on without a person. It waits as an approval does, for as long as it takes: without a process, a
 * place in the window or the step's time-out running. With the answer, whatever it is, the same generation goes on
 * with another attempt that has all records, and `recorded(key)` gives the `RecordedAnswer`.
 */
export interface Asks extends Spent {
  readonly status: "asks";
  /** Identifies the question. One that was answered in this generation is not asked again. */
  readonly key: string;
  readonly message: string;
  /** The data that the person judges. */
  readonly show: Json;
  /** An approval may bring other data in its place. */
  readonly allowEdit?: boolean;
  /** A form: the JSON Schema of the data of an approval, whether they are other ones or those that are shown. */
  readonly schema?: JsonObject;
}

/** Asked on the way by what a task has called. */
export type TaskQuestion = Omit<Asks, "status" | keyof Spent>;

/** A person's answer to a question of a task. */
export type RecordedAnswer = {
  readonly answer: "approve" | "reject" | "skip";
  readonly by?: string;
  readonly comment?: string;
  /** Takes the place of what was shown. */
  readonly edited?: Json;
};

export interface ProducedFile {
  /** Relative, as the producer named it: untrusted, never used as a path. */
  readonly name: string;
  readonly content: Uint8Array;
}
