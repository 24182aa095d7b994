import type { StepFailed, StepInterrupted, StepSucceeded } from "../../history/events.ts";
import type { Failure, Instance } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";
import { stopForBudget } from "./admission.ts";
import { concludeInstance, failInstance, succeedProjected } from "./conclude.ts";
import { bookAttempt, bookLate, giveUp, release } from "./costs.ts";
import { clearDeaths, holdInstance, judgeDeath } from "./crashes.ts";

export function applyStepSucceeded(turn: Turn, event: StepSucceeded): void {
  const instance = currentAttempt(turn, event);
  if (instance === undefined) return bookLate(turn, event);
  if (instance.phase === "dispatched") bookAttempt(turn, instance, event);
  succeedProjected(turn, instance, event.empty === true ? 0 : turn.seq, event);
}

export function applyStepFailed(turn: Turn, event: StepFailed): void {
  const instance = currentAttempt(turn, event);
  if (instance === undefined) {
    if (!failProjection(turn, event)) bookLate(turn, event);
    return;
  }
  if (instance.phase === "dispatched") bookAttempt(turn, instance, event);
  clearDeaths(instance);
  if (instance.scope.phase === "cancelling") return concludeInstance(turn, instance, { status: "cancelled" });
  // A new key only where nothing of the old attempt can have happened, or where it is known what came of it.
  if (event.effect === "none" || event.answered === true) {
    instance.generation += 1;
    instance.records = undefined;
  }
  if (event.outspent !== undefined && instance.scope.phase === "open") return stopOutspent(turn, instance, event);
  const isSafe = instance.step.step.atMostOnce !== true || event.effect === "none";
  const failure: Failure = { code: event.code, message: event.message, seq: turn.seq };
  failInstance(turn, instance, failure, { mayRetry: event.retryable && isSafe, projected: event });
}

/** A budget has nothing more for the step: neither its retry policy nor its failure handling applies. */
function stopOutspent(turn: Turn, instance: Instance, { outspent, message }: StepFailed): void {
  if (outspent?.promisedMicro !== undefined) {
    instance.phase = "blocked";
    turn.work.push({ type: "redispatch", instance });
    return;
  }
  turn.state.budget.exhausted ??= message;
  stopForBudget(turn, instance);
}

/** Neither a success nor a failure: the effect is unknown. The same generation is tried again, unless that is forbidden. */
export function applyStepInterrupted(turn: Turn, event: StepInterrupted): void {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "dispatched" || instance.attempt !== event.attempt) return;
  // It goes on as if it had not been cut off.
  if (event.cause === "parked" || event.hasBegun === false) turn.state.budget.tries -= 1;
  if (event.cause === "parked") {
    turn.state.isSuspended = true;
    // Its executor still lives and may yet say what it cost.
    giveUp(turn, instance);
  } else release(turn, instance);
  if (instance.scope.phase === "cancelling") return concludeInstance(turn, instance, { status: "cancelled" });
  if (instance.step.step.atMostOnce === true && event.hasBegun !== false)
    return failOnce(turn, instance, "INTERRUPTED", `was cut off and may not be repeated${because(event)}`);
  if (event.cause === "parked") {
    instance.phase = "parked";
    return;
  }
  switch (judgeDeath(instance, event)) {
    case "goes on":
      return void turn.work.push({ type: "redispatch", instance });
    case "is held":
      return holdInstance(turn, instance);
    case "is poison":
      return failOnce(turn, instance, "POISON", "was in task when the process died three times");
  }
}

function because({ reason }: StepInterrupted): string {
  return reason === undefined ? "" : `: ${reason.replace(/\.$/, "")}`;
}

function failOnce(turn: Turn, instance: Instance, code: string, what: string): void {
  failInstance(turn, instance, { code, message: `"${instance.path}" ${what}.`, seq: 0 }, { mayRetry: false });
}

/** The projection of an outcome has failed, so the instance fails. False: no instance waits for one. */
function failProjection(turn: Turn, event: StepFailed): boolean {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "projecting" || instance.attempt !== event.attempt) return false;
  instance.outcome = undefined;
  const failure: Failure = { code: event.code, message: event.message, seq: turn.seq };
  instance.failure = failure;
  concludeInstance(turn, instance, { status: "failed", failure, known: undefined });
  return true;
}

/** The instance that the outcome belongs to, if it still waits for it. */
export function currentAttempt(
  turn: Turn,
  event: { readonly path: string; readonly attempt: number },
): Instance | undefined {
  const instance = turn.state.active.get(event.path);
  const isAwaited = instance?.phase === "dispatched" || instance?.phase === "binding";
  return isAwaited && instance?.attempt === event.attempt ? instance : undefined;
}
