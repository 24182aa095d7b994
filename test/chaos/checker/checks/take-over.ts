import type { Check, Observation, Span } from "../observation.ts";
import { mergeSpans, overlapMs } from "./fault-times.ts";

const LIMIT_MS = 15_000;
/** A process gives four signs of life in a lease, and the last one may have been that long ago when it died. */
const BEATS_IN_A_LEASE = 4;
const SLACK_MS = 500;

interface TakeOver extends Span {
  readonly runId: string;
  /** Without the time in which nobody could have taken it. */
  readonly tookMs: number;
}

/** From the moment in which a process was killed or stopped to the first event that another one writes of its run. */
export function takeOvers({ runs, faults, leaseMs, idle }: Observation): readonly TakeOver[] {
  // Nobody is taken for dead before the database has been up, and had room, for a lease.
  const restarts = faults.filter(({ fault: { kind } }) => kind === "postgres" || kind === "full");
  const excused = mergeSpans([...idle, ...restarts.map(({ at, until }) => ({ at, until: until + leaseMs }))]);
  const ends = faults.filter(({ fault: { kind } }) => kind === "kill" || kind === "freeze");
  return runs.flatMap(({ runId, events }) =>
    events.flatMap(({ event: { type, cause, at: until, diedAt } }) => {
      if (type !== "stepInterrupted" || cause !== "crash" || diedAt === undefined) return [];
      const latest = diedAt + leaseMs / BEATS_IN_A_LEASE + SLACK_MS;
      const died = ends.find(({ at }) => at >= diedAt - SLACK_MS && at <= latest && at <= until);
      if (died === undefined) return [];
      const span = { at: died.at, until };
      return [{ runId, ...span, tookMs: until - died.at - overlapMs(span, excused) }];
    }),
  );
}

export const checkTakeOvers: Check = (seen) =>
  takeOvers(seen)
    .filter(({ tookMs }) => tookMs > LIMIT_MS)
    .map(({ runId, tookMs }) => ({ check: "take-over", what: `The run ${runId} was taken over after ${tookMs} ms.` }));

/** A run is somebody's at every moment, but for the time that it takes to notice a death. */
export const checkAttended: Check = ({ unattended, leaseMs }) =>
  unattended
    .filter(({ forMs }) => forMs > LIMIT_MS - leaseMs)
    .map(({ runId, forMs }) => ({
      check: "attended",
      what: `Nobody was responsible for the run ${runId} for ${forMs} ms.`,
    }));
