import type { FinalStatus } from "../history/events.ts";
import type { InstancePhase, RunState } from "../history/run-state.ts";
import { isBudgetAsked } from "./budget/use-limits.ts";
import { START_TIMER } from "./timers.ts";

export type OpenStatus = "queued" | "running" | "waiting" | "awaiting_approval";

export function runStatus(state: RunState): OpenStatus | FinalStatus {
  if (state.phase === "new" || (state.phase === "open" && state.queued !== undefined)) return "queued";
  if (state.phase === "finished" && state.ending !== undefined) return state.ending.status;
  if (!isParked(state)) return "running";
  return state.approvalsOpen > 0 && !state.isHeld ? "awaiting_approval" : "waiting";
}

/** Nothing to do until a timer fires, a signal comes or a person answers: the run can leave memory. */
export function isParked(state: RunState): boolean {
  if (state.phase !== "open") return false;
  if (state.isHeld || state.queued !== undefined) return true;
  if (state.later.size > 0) return false;
  const isAsked = isBudgetAsked(state);
  for (const { phase } of state.active.values()) {
    if (phase === "blocked" && isAsked) continue;
    if (phase !== "waiting" && phase !== "approval" && phase !== "held" && !dependsOnOthers(phase)) return false;
  }
  return true;
}

/** Parked, and only a person, an event from outside or another run can change that, not time alone. */
export function waitsForOthers(state: RunState): boolean {
  if (!isParked(state)) return false;
  if (state.isHeld || state.queued !== undefined) return !state.timers.has(START_TIMER);
  for (const { phase, signal } of state.active.values()) if (phase === "waiting" && signal === undefined) return false;
  return true;
}

/** When a parked run must be looked at again. */
export function nextTimerAt(state: RunState): number | undefined {
  if (state.isHeld) return undefined;
  let earliest: number | undefined;
  for (const at of state.timers.values()) if (earliest === undefined || at < earliest) earliest = at;
  return earliest;
}

/** It waits for another instance: one inside it, or one that holds its place. */
function dependsOnOthers(phase: InstancePhase): boolean {
  return phase === "body" || phase === "catch" || phase === "finally" || phase === "answered";
}
