import type { TimerFired } from "../../history/events.ts";
import type { Failure, Instance, Scope } from "../../history/run-state.ts";
import { cancelScope } from "../flow/fail-scope.ts";
import { timeOutApproval } from "../step-kinds/approve.ts";
import { applyWaitOver } from "../step-kinds/wait.ts";
import { BUDGET_TIMER, GRACE_TIMER, LAST_TIMER, RUN_TIMER } from "../timers.ts";
import type { Turn } from "../turn.ts";
import { dropTasksInFlight, killRun, stopRun } from "./cancel.ts";

export function applyTimerFired(turn: Turn, event: TimerFired): void {
  if (!turn.state.timers.delete(event.timer)) return;
  if (event.timer === RUN_TIMER) return stopRun(turn, "timeout");
  // A run that was cancelled before stays cancelled.
  if (event.timer === BUDGET_TIMER) return turn.state.stopping === undefined ? stopRun(turn, "budget") : undefined;
  if (event.timer === GRACE_TIMER) return dropTasksInFlight(turn);
  if (event.timer === LAST_TIMER) return killRun(turn);
  const at = event.timer.lastIndexOf("@");
  const instance = turn.state.active.get(event.timer.slice(0, at));
  if (instance === undefined) return;
  const purpose = event.timer.slice(at + 1);
  if (purpose === "wait") applyWaitOver(turn, instance);
  else if (purpose === "approval") timeOutApproval(turn, instance);
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
  if (ownMs !== undefined && ownMs < (step.step.timeoutMs ?? Number.POSITIVE_INFINITY)) {
    return { code: "RUN_TIMEOUT", message: `The run that "${path}" calls took longer than its time-out.`, seq: 0 };
  }
  return { code: "TIMEOUT", message: `"${path}" took longer than its time-out.`, seq: 0 };
}
