import type { Event } from "../history/events.ts";
import { applyStepProjected } from "./attempt/conclude.ts";
import { applyCostReported, bookLate } from "./attempt/costs.ts";
import { clearDeaths } from "./attempt/crashes.ts";
import { applyStepFailed, applyStepInterrupted, applyStepSucceeded } from "./attempt/outcomes.ts";
import { applyBudgetExhausted, applyLimitRaised, applyStepHeld } from "./budget/host-limits.ts";
import { applyCostReserved } from "./budget/paid-calls.ts";
import { applyCancelRequested } from "./run/cancel.ts";
import { applyRunFinished, applyRunHeld, applyRunResumed, applyRunStarted } from "./run/run-life.ts";
import { applyTimerFired } from "./run/timer-fired.ts";
import { applyApprovalAnswered, applyApprovalAsked, applyQuestionAsked } from "./step-kinds/approve.ts";
import { applyCallResolved } from "./step-kinds/call.ts";
import { applySignalReceived, applyWaitBegun } from "./step-kinds/wait.ts";
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
    case "stepStarted": {
      const instance = turn.state.active.get(event.path);
      if (instance?.phase !== "dispatched" || instance.attempt !== event.attempt) return;
      instance.begun = true;
      instance.flight = event.flight ?? 0;
      instance.startedAt = event.at;
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
