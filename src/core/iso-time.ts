/** The day in UTC, `2026-05-01`. */
export function toIsoDay(epochMs: number): string {
  const { year, month, day } = toCivil(Math.floor(epochMs / 86_400_000));
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/**
 * ISO 8601 in UTC for milliseconds since the epoch. Written here because the core has no clock and no `Date`:
 * the conversion is pure (days to civil date after Howard Hinnant's published algorithm).
 */
export function toIsoTime(epochMs: number): string {
  const days = Math.floor(epochMs / 86_400_000);
  const ms = epochMs - days * 86_400_000;
  const time = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60].map((n) =>
    pad(n, 2),
  );
  return `${toIsoDay(epochMs)}T${time.join(":")}.${pad(Math.floor(ms) % 1000, 3)}Z`;
}

function toCivil(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const mp = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * mp + 2) / 5) + 1;
  const month = mp < 10 ? mp + 3 : mp - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
