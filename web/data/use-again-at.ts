import { useEffect } from "react";

const LONGEST_WAIT_MS = 3_600_000;
/** What happens at a time is written a moment later. */
export const LATER_MS = 2_000;

interface ReadQuery {
  readonly dataUpdatedAt: number;
  refetch(): unknown;
}

/** Reads again when the first of these times has come. Of one that has passed without effect the next look is ever later. */
export function useAgainAt({ dataUpdatedAt: readAt, refetch }: ReadQuery, times: readonly (string | null)[]): void {
  const due = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  const first = due.length === 0 ? undefined : Math.min(...due);
  useEffect(() => {
    if (first === undefined) return;
    const ahead = first - readAt;
    const wait = ahead > 0 ? ahead + LATER_MS : Math.max(LATER_MS, -ahead);
    const timer = setTimeout(() => void refetch(), Math.min(wait, LONGEST_WAIT_MS));
    return () => clearTimeout(timer);
  }, [first, readAt, refetch]);
}
