import type { Effect } from "../../src/core/history/events.ts";
import type { Json } from "../../src/core/json.ts";

/** A task as the outside world sees it. */
export interface TaskCall {
  readonly path: string;
  readonly stepId: string;
  readonly attempt: number;
  /** Failed attempts before this one; interrupted ones are not counted. */
  readonly failures: number;
  readonly input: Json;
  /** What its questions were answered with, in the order of the answers. */
  readonly answers: readonly Json[];
  /** What the run's budget has left for it. Undefined: nothing limits it. */
  readonly leftMicro: number | undefined;
}

export type TaskResult = {
  readonly delayMs?: number;
  readonly costMicro?: number;
  /** Reported halfway, before the outcome. */
  readonly earlyCostMicro?: number;
  /** What it does when told to stop; default `fail`. */
  readonly onAbort?: "fail" | "finish" | "hang";
} & (
  | { readonly output: Json }
  | { readonly asks: string; readonly allowEdit?: boolean }
  | {
      readonly fail: string;
      readonly retryable?: boolean;
      readonly effect?: Effect;
      readonly answered?: true;
      /** What was left was too little. */
      readonly outspent?: true;
    }
);

export interface Answer {
  readonly answer: "approve" | "reject" | "skip";
  readonly edited?: Json;
  readonly delayMs?: number;
}

/** How everything outside the core behaves. Equal calls must get equal results. */
export interface Behaviour {
  task(call: TaskCall): TaskResult;
  /** Undefined: nobody ever answers. `key`: of a question that a task has asked. */
  answer?(path: string, key: string | undefined): Answer | undefined;
  /** A signal for whoever has begun to wait; undefined: none is sent. */
  signal?(path: string, name: string): { readonly payload: Json; readonly delayMs: number } | undefined;
  /** How long the host needs to bind. */
  bindMs?(path: string): number;
}
