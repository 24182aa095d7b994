import type { Instance } from "../history/run-state.ts";
import type { Turn } from "./turn.ts";

/** Timers carry their purpose in their name, `path@purpose`, so that one that is no longer wanted misses. */
export const RUN_TIMER = "@run";
export const BUDGET_TIMER = "@budget";
export const GRACE_TIMER = "@grace";
export const LAST_TIMER = "@last";
export const LATER_TIMER = "@later";
/** A run that has not begun waits for its slot. */
export const START_TIMER = "@start";

const PURPOSES = ["wait", "approval", "remind", "escalate", "timeout", "retry"] as const;

export type TimerPurpose = (typeof PURPOSES)[number];

export function timerOf(instance: Instance, purpose: TimerPurpose): string {
  return purpose === "retry" ? `${instance.path}@retry${instance.attempt}` : `${instance.path}@${purpose}`;
}

export function readTimer(timer: string): { readonly path: string; readonly purpose: string } {
  const at = timer.lastIndexOf("@");
  return { path: timer.slice(0, at), purpose: timer.slice(at + 1) };
}

export function startTimer(turn: Turn, timer: string, at: number): void {
  turn.state.timers.set(timer, at);
  turn.commands.push({ type: "startTimer", timer, at });
}

export function stopTimer(turn: Turn, timer: string): void {
  if (turn.state.timers.delete(timer)) turn.commands.push({ type: "stopTimer", timer });
}

export function stopTimersOf(turn: Turn, instance: Instance): void {
  if (turn.state.timers.size === 0) return;
  for (const purpose of PURPOSES) stopTimer(turn, timerOf(instance, purpose));
}
