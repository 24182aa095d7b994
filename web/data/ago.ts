const DAY_MS = 86_400_000;

const AGO_MS: Readonly<Record<string, number>> = {
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
  quarter: 90 * DAY_MS,
};

/** A time of an address. The words are so long before now, to the minute, so that the same words ask the same; all else stays. */
export function toTime(written: string): string {
  const ago = AGO_MS[written];
  return ago === undefined ? written : new Date(Math.floor((Date.now() - ago) / 60_000) * 60_000).toISOString();
}
