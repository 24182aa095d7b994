import type { Instance, RunState } from "../../../../core/history/run-state.ts";
import { START_TIMER } from "../../../../core/interpreter/timers.ts";
import { toIsoTime } from "../../../../core/iso-time.ts";
import { formatDuration, formatTime } from "./formats.ts";
import { sanitize } from "./sanitize.ts";

/** A server that takes no more calls at once. */
export interface ShownWait {
  readonly pool: string;
  readonly inFlight: number;
  readonly width: number;
  /** Calls of this run. */
  readonly waiting: number;
  readonly waitingInAll: number;
  /** The server refuses all calls, and is asked again at this time; milliseconds since the epoch. */
  readonly closedUntil: number | undefined;
}

/** A call that has failed and is sent again. */
export interface ShownRetry {
  readonly host: string;
  readonly cause: string;
  /** Milliseconds since the epoch. */
  readonly againAt: number;
}

/** Why a step waits that was in flight when the process died, or is held. */
export function showSuspect({ phase, deaths }: Pick<Instance, "phase" | "deaths">): string {
  const reason = deaths.at(-1)?.reason;
  const who = reason === undefined ? "the process" : "what worked for it";
  const said = reason === undefined ? "" : `: ${sanitize(reason)}`;
  return `${phase === "held" ? "held" : "paused"}: in flight when ${who} died ${deaths.length} times${said}`;
}

/** What calls of a run wait for, in one line. */
export function showWait(wait: ShownWait, now: number): string {
  const { pool, inFlight, width, waiting, waitingInAll, closedUntil } = wait;
  const isClosed = closedUntil !== undefined && closedUntil > now;
  const until = isClosed ? `, it refuses all and is asked again at ${formatTime(closedUntil, now)}` : "";
  const others = waitingInAll > waiting ? ` beside ${waitingInAll - waiting} of other runs` : "";
  return `waiting for capacity: ${inFlight} of ${width} at ${sanitize(pool)}, ${waiting} waiting${others}${until}`;
}

/** Tries of a run that may only begin with what others leave of the budget. */
export function showBudgetWait(waiting: number): string {
  return `waiting for the budget: ${waiting} ${waiting === 1 ? "try begins" : "tries begin"} with what those in flight leave`;
}

/** A run that has not begun. */
export function showLine({ timers, place }: Pick<RunState, "timers" | "place">): string {
  const at = timers.get(START_TIMER);
  if (at === undefined) return `in line for a place: at most ${place?.limit ?? 1} go on at once`;
  return `begins at ${toIsoTime(at)}${place?.waitMs === undefined ? "" : ", unless a newer run takes its place"}`;
}

/** A server that has failed a call, which is sent again. */
export function showRetry({ host, cause, againAt }: ShownRetry, now: number): string {
  const again = againAt > now ? `again in ${formatDuration(againAt - now)}` : "asked again";
  return `${sanitize(host)}: ${sanitize(cause)}, ${again}`;
}
