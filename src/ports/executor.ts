import type { Effect, FinalStatus } from "../core/history/events.ts";
import type { Json, JsonObject } from "../core/json.ts";

/**
 * Does outside work. Time-outs, retries, concurrency and rate limits are the host's business, not its own;
 * it must stop soon after `signal` aborts and still return an outcome with the cost so far.
 */
export interface Executor {
  /** Keep the bound input with the attempt, e.g. the prompt of an agent. */
  readonly recordsInput: boolean;
  run(task: Task, signal: AbortSignal): Promise<Outcome>;
  /** A run that it has worked for in this process has ended: what it keeps for the run can go. */
  runEnded?(run: EndedRun): Promise<void>;
}

export interface EndedRun {
  readonly runId: string;
  readonly status: FinalStatus;
  /** As the run was started with. */
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
  /** Fully bound; what it means is between the dialect and the executor. */
  readonly input: Json;
  /** The graph's `settings`. */
  readonly settings: JsonObject;
  /** Integer micro-dollars that this attempt may spend at most, for providers that take a limit. */
  readonly maxCostMicro?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Progress for the live view and the attempt's log. Never blocks. */
  emit(progress: Progress): void;
  /** Durable progress inside the step: resolves when committed. */
  record(key: string, value: Json): Promise<void>;
  /** What an earlier, interrupted attempt of the same generation recorded. */
  recorded(key: string): Promise<Json | undefined>;
}

export type Progress =
  | { readonly type: "log"; readonly event: Json }
  /** Money spent before the outcome is known; the outcome's cost is the total, this included. */
  | { readonly type: "cost"; readonly costMicro: number };

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
  readonly effect: Effect;
}

export interface ProducedFile {
  /** Relative, as the producer named it: untrusted, never used as a path. */
  readonly name: string;
  readonly content: Uint8Array;
}
