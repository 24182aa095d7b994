/** Enough of a run's id to name it: the time to the millisecond and some chance. */
export function shortId(runId: string): string {
  return runId.slice(0, SHORT_LENGTH);
}

const SHORT_LENGTH = 18;
