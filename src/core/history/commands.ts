import type { FinalStatus } from "./events.ts";
import type { Instance } from "./run-state.ts";

/** What the core wants to happen. The host performs it only after the event that caused it is durable. */
export type Command =
  /** Bind the step's input, run its executor, report the outcome. */
  | {
      readonly type: "startTask";
      readonly instance: Instance;
      readonly attempt: number;
      /** Its run has no tries or tokens left: reuse the outcome of an earlier run, or report `stepHeld`. */
      readonly onlyReuse?: boolean;
    }
  /** Tell the executor to stop. Its outcome is still awaited and its cost booked. */
  | { readonly type: "abortTask"; readonly path: string; readonly attempt: number }
  | StepCommand
  | { readonly type: "startTimer"; readonly timer: string; readonly at: number }
  | { readonly type: "stopTimer"; readonly timer: string }
  /** Report `runFinished`, with the outbox in the same commit. */
  | { readonly type: "finishRun"; readonly status: FinalStatus; readonly code?: string; readonly message?: string };

/** The host does these itself: it has the values that the state does not hold. */
export type StepCommand =
  /** Bind and evaluate a `set` or `respond` step, report the value as its outcome. */
  | { readonly type: "evaluateStep"; readonly instance: Instance; readonly attempt: number }
  /** Evaluate what control reads of an outcome that is already known, report `stepProjected`. */
  | { readonly type: "projectStep"; readonly instance: Instance; readonly attempt: number }
  /** Bind a call's name and input, load and pin the definition, report `callResolved` or a failure. */
  | { readonly type: "resolveCall"; readonly instance: Instance; readonly attempt: number }
  /** Bind message and shown data, report `approvalAsked`. */
  | { readonly type: "askApproval"; readonly instance: Instance; readonly attempt: number }
  /** Bind what a wait waits for, report `waitBegun`. */
  | { readonly type: "beginWait"; readonly instance: Instance; readonly attempt: number }
  /** The event of a wait is no longer looked for. */
  | { readonly type: "endWait"; readonly instance: Instance; readonly attempt: number };
