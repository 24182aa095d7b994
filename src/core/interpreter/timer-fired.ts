import type { TimerFired } from "../history/events.ts";
import type { Instance } from "../history/run-state.ts";
import { dropTasksInFlight, killRun, stopRun } from "./cancel.ts";
import { cancelScope } from "./fail-scope.ts";
import { timeOutApproval } from "./step-kinds/approve.ts";
import { applyWaitOver } from "./step-kinds/wait.ts";
import { GRACE_TIMER, LAST_TIMER, RUN_TIMER } from "./timers.ts";
import type { Turn } from "./turn.ts";

export function applyTimerFired(turn: Turn, event: TimerFired): void {
  if (!turn.state.timers.delete(event.timer)) return;
  if (event.timer === RUN_TIMER) return stopRun(turn, "timeout");
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
  instance.failure = { code: "TIMEOUT", message: `"${instance.path}" took longer than its time-out.`, seq: 0 };
  cancelScope(turn, instance.child);
}
