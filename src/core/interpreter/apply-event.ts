import type { Amounts, BudgetExhausted, Event, LimitRaised, StepHeld, TimerFired } from "../history/events.ts";
import type { Failure, Instance, Scope } from "../history/run-state.ts";
import { stopForBudget } from "./attempt/admission.ts";
import { applyStepProjected, concludeInstance } from "./attempt/conclude.ts";
import { applyCostReported, bookLate, release } from "./attempt/costs.ts";
import { clearDeaths } from "./attempt/crashes.ts";
import { applyStepFailed, applyStepInterrupted, applyStepSucceeded, currentAttempt } from "./attempt/outcomes.ts";
import { applyCostReserved } from "./budget/paid-calls.ts";
import { cancelScope } from "./flow/losses.ts";
import { beginLater } from "./flow/start-item.ts";
import { applyCancelRequested, dropTasksInFlight, killRun, stopRun } from "./run/cancel.ts";
import {
  applyPlaceTaken,
  applyRunFinished,
  applyRunHeld,
  applyRunResumed,
  applyRunStarted,
  applySlotReached,
} from "./run/run-life.ts";
import {
  applyApprovalAnswered,
  applyApprovalAsked,
  applyApprovalCounted,
  applyQuestionAsked,
  remindOfApproval,
  timeOutApproval,
} from "./step-kinds/approve.ts";
import { applyCallResolved } from "./step-kinds/call.ts";
import { applySignalReceived, applyWaitBegun, applyWaitOver } from "./step-kinds/wait.ts";
import { BUDGET_TIMER, GRACE_TIMER, LAST_TIMER, LATER_TIMER, RUN_TIMER, readTimer, START_TIMER } from "./timers.ts";
import type { Turn } from "./turn.ts";

export function applyEvent(turn: Turn, event: Event): void {
  const { phase } = turn.state;
  if (phase === "finishing" || phase === "finished") return applyAfterEnd(turn, event);
  switch (event.type) {
    case "runStarted":
      return applyRunStarted(turn, event);
    case "runHeld":
      return applyRunHeld(turn);
    case "runResumed":
      return applyRunResumed(turn, event);
    case "placeTaken":
      return applyPlaceTaken(turn);
    case "stepStarted": {
      const instance = turn.state.active.get(event.path);
      if (instance?.phase !== "dispatched" || instance.attempt !== event.attempt) return;
      instance.begun = true;
      instance.flight = event.flight ?? 0;
      instance.startedAt = event.startedAt ?? event.at;
      return;
    }
    case "stepLogged":
    case "limitNeared":
      return;
    case "stepRecorded": {
      const instance = turn.state.active.get(event.path);
      if (instance?.attempt !== event.attempt) return;
      instance.records ??= new Map();
      // Whatever took the process down before, it was not on the way to here.
      if (!instance.records.has(event.key)) clearDeaths(instance);
      instance.records.set(event.key, turn.seq);
      return;
    }
    case "stepSucceeded":
      return applyStepSucceeded(turn, event);
    case "stepFailed":
      return applyStepFailed(turn, event);
    case "stepProjected":
      return applyStepProjected(turn, event);
    case "stepInterrupted":
      return applyStepInterrupted(turn, event);
    case "costReserved":
      return applyCostReserved(turn, event);
    case "costReported":
      return applyCostReported(turn, event);
    case "callResolved":
      return applyCallResolved(turn, event);
    case "waitBegun":
      return applyWaitBegun(turn, event);
    case "approvalAsked":
      return event.attempt === undefined ? applyApprovalAsked(turn, event) : applyQuestionAsked(turn, event);
    case "approvalAnswered":
      return applyApprovalAnswered(turn, event);
    case "approvalCounted":
      return applyApprovalCounted(turn, event);
    case "timerFired":
      return applyTimerFired(turn, event);
    case "signalReceived":
      return applySignalReceived(turn, event);
    case "cancelRequested":
      return applyCancelRequested(turn);
    case "budgetExhausted":
      return applyBudgetExhausted(turn, event);
    case "stepHeld":
      return applyStepHeld(turn, event);
    case "limitRaised":
      return applyLimitRaised(turn, event);
    case "runFinished":
      return applyRunFinished(turn);
  }
}

/** The run is decided: what still comes in changes what it has cost, nothing else. */
function applyAfterEnd(turn: Turn, event: Event): void {
  if (event.type === "runFinished") return applyRunFinished(turn);
  const isOutcome = event.type === "stepSucceeded" || event.type === "stepFailed";
  const isQuestion = event.type === "approvalAsked" && event.attempt !== undefined;
  if (event.type === "costReported") return applyCostReported(turn, event);
  if (isOutcome || isQuestion) bookLate(turn, event);
}

/** For limits that the host holds: it reports when one is used up, and what a person has added to it. */
function applyBudgetExhausted(turn: Turn, event: BudgetExhausted): void {
  const instance = currentAttempt(turn, event);
  if (instance?.phase !== "dispatched") return;
  const { budget } = turn.state;
  release(turn, instance);
  budget.tries -= 1;
  budget.exhausted ??= event.message;
  // The run is ending already.
  if (instance.scope.phase !== "open") return concludeInstance(turn, instance, { status: "cancelled" });
  stopForBudget(turn, instance);
}

/** The attempt waits with all others, in the order of asking. */
function applyStepHeld(turn: Turn, event: StepHeld): void {
  const instance = currentAttempt(turn, event);
  if (instance?.phase !== "dispatched") return;
  release(turn, instance);
  turn.state.budget.tries -= 1;
  if (instance.scope.phase !== "open") return concludeInstance(turn, instance, { status: "cancelled" });
  instance.phase = "blocked";
  turn.state.blocked.push(instance);
  turn.hasRoom = true;
}

function applyLimitRaised({ state: { budget, now, startedAt } }: Turn, { id, by }: LimitRaised): void {
  if (budget.raisedBy.includes(id)) return;
  budget.raisedBy.push(id);
  // A run that asks for nothing else asks about money in doubt.
  if (budget.limitMicro !== undefined) budget.limitMicro += by.cost ?? 0;
  if (budget.asks === undefined) return;
  const { cost, tokens, tries, duration } = budget.asks;
  budget.asks = {
    ...add("cost", cost, by),
    ...add("tokens", tokens, by),
    ...add("tries", tries, by),
    // The time that has passed while a person was asked does not count.
    ...add("duration", by.duration === undefined ? duration : Math.max(duration ?? 0, now - startedAt), by),
  };
}

function add(of: keyof Amounts, limit: number | undefined, by: Amounts): Amounts {
  return limit === undefined ? {} : { [of]: limit + (by[of] ?? 0) };
}

function applyTimerFired(turn: Turn, event: TimerFired): void {
  if (!turn.state.timers.delete(event.timer)) return;
  if (event.timer === RUN_TIMER) return stopRun(turn, "timeout");
  // A run that was cancelled before stays cancelled.
  if (event.timer === BUDGET_TIMER) return turn.state.stopping === undefined ? stopRun(turn, "budget") : undefined;
  if (event.timer === GRACE_TIMER) return dropTasksInFlight(turn);
  if (event.timer === LAST_TIMER) return killRun(turn);
  if (event.timer === LATER_TIMER) return beginLater(turn);
  if (event.timer === START_TIMER) return applySlotReached(turn, event);
  const { path, purpose } = readTimer(event.timer);
  const instance = turn.state.active.get(path);
  if (instance === undefined) return;
  if (purpose === "wait") applyWaitOver(turn, instance);
  else if (purpose === "approval") timeOutApproval(turn, instance);
  else if (purpose === "remind") remindOfApproval(turn, instance);
  else if (purpose === "escalate") instance.isEscalated = true;
  else if (purpose === "timeout") timeOutBody(turn, instance);
  else if (instance.phase === "backoff") turn.work.push({ type: "redispatch", instance });
}

/** Tasks are timed by the host, from their real start; a nested flow or call is timed here. */
function timeOutBody(turn: Turn, instance: Instance): void {
  if (instance.child === undefined || instance.phase !== "body") return;
  instance.failure = timeOutOf(instance, instance.child);
  cancelScope(turn, instance.child);
}

/** A called run may have a limit of its own that is shorter than that of the step. */
function timeOutOf({ path, scope, step }: Instance, child: Scope): Failure {
  const ownMs = child.frame === scope.frame ? undefined : child.frame.timeoutMs;
  if (ownMs !== undefined && ownMs < (step.step.timeoutMs ?? Number.POSITIVE_INFINITY))
    return { code: "RUN_TIMEOUT", message: `The run that "${path}" calls took longer than its time-out.`, seq: 0 };
  return { code: "TIMEOUT", message: `"${path}" took longer than its time-out.`, seq: 0 };
}
