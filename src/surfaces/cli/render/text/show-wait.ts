import type { ShownWait } from "../live/live-run.ts";
import { formatTime } from "./formats.ts";
import { sanitize } from "./sanitize.ts";

/** What calls of a run wait for, in one line. */
export function showWait({ pool, inFlight, width, waiting, closedUntil }: ShownWait, now: number): string {
  const isClosed = closedUntil !== undefined && closedUntil > now;
  const until = isClosed ? `, nothing is sent before ${formatTime(closedUntil, now)}` : "";
  return `waiting for capacity: ${inFlight} of ${width} at ${sanitize(pool)}, ${waiting} waiting${until}`;
}
