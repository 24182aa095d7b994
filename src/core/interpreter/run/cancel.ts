import type { RunState } from "../../history/run-state.ts";
import { concludeInstance } from "../attempt/conclude.ts";
import { giveUp } from "../attempt/costs.ts";
import { cancelScope } from "../flow/losses.ts";
import { GRACE_TIMER, LAST_TIMER, startTimer } from "../timers.ts";
import type { Turn } from "../turn.ts";
import { endRun } from "./end-run.ts";

/** How long running tasks may take to stop before the run ends without them. */
const GRACE_MS = 30_000;

/** How long after that `finally` may go on. */
const FINALLY_MS = 5 * 60_000;

/** The first asks everything to stop and lets `finally` run; the second ends the run as it stands. */
export function applyCancelRequested(turn: Turn): void {
  if (turn.state.stopping === "cancelled") return killRun(turn);
  stopRun(turn, "cancelled");
}

export function stopRun(turn: Turn, why: NonNullable<RunState["stopping"]>): void {
  const { state } = turn;
  if (state.phase !== "open") return;
  state.stopping = why;
  state.queued = undefined;
  // It has waited for a place, and not begun.
  if (state.root === undefined) return endRun(turn);
  startTimer(turn, GRACE_TIMER, state.now + GRACE_MS);
  startTimer(turn, LAST_TIMER, state.now + GRACE_MS + FINALLY_MS);
  cancelScope(turn, state.root);
}

/** Gives up the tasks in flight: their cost is still booked if it ever comes, but their outcome no longer counts. */
export function dropTasksInFlight(turn: Turn): void {
  for (const instance of [...turn.state.active.values()]) {
    if (instance.phase !== "dispatched" || instance.scope.phase !== "cancelling") continue;
    giveUp(turn, instance);
    concludeInstance(turn, instance, { status: "cancelled" });
  }
}

/** Ends the run as it stands. */
export function killRun(turn: Turn): void {
  const { state } = turn;
  if (state.phase !== "open" || state.root === undefined) return;
  for (const instance of state.active.values()) {
    if (instance.phase !== "dispatched") continue;
    turn.commands.push({ type: "abortTask", path: instance.path, attempt: instance.attempt });
    giveUp(turn, instance);
  }
  state.active.clear();
  state.waiters.clear();
  state.blocked.clear();
  state.approvalsOpen = 0;
  state.stepsHeld = 0;
  endRun(turn, state.root);
}
