import type { Json } from "./json.ts";

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

const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * Milliseconds since the epoch for a day or a time in ISO 8601, as people and programs write them: with a zone or, where they
 * name none, in UTC. Undefined: it is none, or there is no such day.
 */
export function fromIsoTime(text: string): number | undefined {
  const read = readIsoTime(text);
  return read === undefined ? undefined : read.localMs - (read.offsetMs ?? 0);
}

/** What the clock shows there, as if it stood in UTC, and how far ahead of UTC it is if the text says so. */
export function readIsoTime(
  text: string,
): { readonly localMs: number; readonly offsetMs: number | undefined } | undefined {
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = "", zone] = TIME.exec(text) ?? [];
  const days = toDays({ year: Number(year), month: Number(month), day: Number(day) });
  if (days === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const minutes = (days * 24 + Number(hour)) * 60 + Number(minute);
  return {
    localMs: minutes * 60_000 + Number(second) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, "0")),
    offsetMs: zone === undefined ? undefined : toOffsetMinutes(zone) * 60_000,
  };
}

function toOffsetMinutes(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const size = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === "-" ? -size : size;
}

export interface Civil {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The other way round. Undefined: there is no such day. */
export function toDays({ year, month, day }: Civil): number | undefined {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  const days = era * 146_097 + dayOfEra - 719_468;
  const back = toCivil(days);
  return back.year === year && back.month === month && back.day === day ? days : undefined;
}

export function toCivil(days: number): Civil {
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

/** A number, or digits, are seconds; a text has units from large to small: `90s`, `500ms`, `5m`, `1h30m`, `2d`. */
export function toMilliseconds(value: Json | undefined): number | undefined {
  if (typeof value === "number") return toWhole(value * SECOND_MS);
  // A bigint is far beyond what milliseconds can be.
  if (typeof value !== "string") return undefined;
  if (/^[0-9]{1,15}$/.test(value)) return toWhole(Number(value) * SECOND_MS);
  const amounts = DURATION.exec(value)?.slice(1);
  if (amounts === undefined || value === "") return undefined;
  return toWhole(UNITS_MS.reduce((sum, unitMs, unit) => sum + Number(amounts[unit] ?? 0) * unitMs, 0));
}

const SECOND_MS = 1_000;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, SECOND_MS, 1];
const DURATION = /^(?:([0-9]{1,15})d)?(?:([0-9]{1,15})h)?(?:([0-9]{1,15})m)?(?:([0-9]{1,15})s)?(?:([0-9]{1,15})ms)?$/;

function toWhole(milliseconds: number): number | undefined {
  // `+ 0`: no negative zero.
  const whole = Math.round(milliseconds) + 0;
  return milliseconds >= 0 && Number.isSafeInteger(whole) ? whole : undefined;
}

/** An IANA name. Offsets such as `+01:00` are zones for the engine of JavaScript, and for no calendar. */
export function isTimezone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
