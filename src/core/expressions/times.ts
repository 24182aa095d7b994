import { BoundedMap } from "../bounded-map.ts";
import { readIsoTime, toCivil, toDays, toIsoTime, toMilliseconds } from "../iso-time.ts";
import { isNumber, type Json } from "../json.ts";
import type { Work } from "./work.ts";

const DAY_MS = 86_400_000;
/** What a look into the table of a zone costs, in looks at a part of an expression. */
const LOOKS_PER_ZONE = 500;

/** A text in ISO 8601, in UTC. A time without an offset is one of the zone. */
export function addTime(time: Json | undefined, duration: Json | undefined, zone: Json, work: Work): Json | undefined {
  const place = openZone(zone, work);
  const at = place && readTime(time, place);
  const amount = readDuration(duration);
  if (place === undefined || at === undefined || amount === undefined) return undefined;
  const ms = addAmount(at, amount, place);
  // The years 0 to 9999: others have another form in ISO 8601.
  return ms >= -62_167_219_200_000 && ms < 253_402_300_800_000 ? toIsoTime(ms) : undefined;
}

/** Up to hours with their fraction; days and longer ones are those that are complete in the calendar of the zone. */
export function timeBetween(
  [from, to, unit, zone = "UTC"]: readonly (Json | undefined)[],
  work: Work,
): number | undefined {
  const place = openZone(zone, work);
  const start = place && readTime(from, place);
  const end = place && readTime(to, place);
  if (place === undefined || start === undefined || end === undefined || typeof unit !== "string") return undefined;
  const exact = EXACT_UNITS.get(unit);
  if (exact !== undefined) return (end - start) / exact;
  const step = CALENDAR_UNITS.get(unit);
  if (step === undefined) return undefined;
  const complete = end < start ? countComplete(end, start, step, place) : countComplete(start, end, step, place);
  return end < start ? -complete || 0 : complete;
}

/** Undefined also for a pattern with letters that stand for nothing. */
export function formatTime(
  time: Json | undefined,
  pattern: string,
  zone: Json | undefined,
  work: Work,
): string | undefined {
  const place = openZone(zone ?? "UTC", work);
  const at = place && readTime(time, place);
  if (place === undefined || at === undefined || !isTimePattern(pattern)) return undefined;
  const offset = place.offsetAt(at);
  const clock = readClock(at + offset, offset);
  return pattern.replace(PATTERN_PARTS, (part, letter, quoted) =>
    letter === undefined ? (quoted ?? part) : (PARTS.get(part)?.(clock) ?? ""),
  );
}

/** Whether each letter stands for a part of a time, or in quotes. */
export function isTimePattern(pattern: string): boolean {
  return Array.from(pattern.matchAll(PATTERN_PARTS)).every(([part, letter]) => letter === undefined || PARTS.has(part));
}

/** A run of one letter, a text in quotes, or any other character. */
const PATTERN_PARTS = /([a-z])\1*|'([^']*)'|[^a-z]/gi;

interface Amount {
  readonly months: number;
  readonly days: number;
  readonly ms: number;
}

const EXACT_UNITS: ReadonlyMap<string, number> = new Map([
  ["milliseconds", 1],
  ["seconds", 1_000],
  ["minutes", 60_000],
  ["hours", 3_600_000],
]);

const CALENDAR_UNITS: ReadonlyMap<string, Amount> = new Map([
  ["days", { months: 0, days: 1, ms: 0 }],
  ["weeks", { months: 0, days: 7, ms: 0 }],
  ["months", { months: 1, days: 0, ms: 0 }],
  ["years", { months: 12, days: 0, ms: 0 }],
]);

export const TIME_UNITS: readonly string[] = [...EXACT_UNITS.keys(), ...CALENDAR_UNITS.keys()];

const ISO_DURATION =
  /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d{1,3})?)S)?)?$/;

/** `P1M2DT3H` in the calendar, or an exact `1h30m`; a minus goes back. Numbers are seconds. */
export function isDuration(text: string): boolean {
  return readDuration(text) !== undefined;
}

function readDuration(value: Json | undefined): Amount | undefined {
  if (isNumber(value) && value < 0) return negative(readDuration(-value));
  if (typeof value === "string" && value.startsWith("-")) return negative(readDuration(value.slice(1)));
  const iso = typeof value === "string" ? ISO_DURATION.exec(value) : null;
  if (iso === null) {
    const ms = toMilliseconds(value);
    return ms === undefined ? undefined : { months: 0, days: 0, ms };
  }
  const [years, months, weeks, days, hours, minutes, seconds] = iso
    .slice(1)
    .map((n) => Number((n ?? "0").replace(",", ".")));
  return {
    months: Number(years) * 12 + Number(months),
    days: Number(weeks) * 7 + Number(days),
    ms: Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Math.round(Number(seconds) * 1_000),
  };
}

function negative(amount: Amount | undefined): Amount | undefined {
  return amount && { months: -amount.months, days: -amount.days, ms: -amount.ms };
}

/** Months and days in the calendar, the rest as time that passes. The 31st of a short month is its last day. */
function addAmount(at: number, { months, days, ms }: Amount, zone: Zone): number {
  if (months === 0 && days === 0) return at + ms;
  const local = at + zone.offsetAt(at);
  const day = Math.floor(local / DAY_MS);
  const moved = months === 0 ? day : addMonths(day, months);
  return moved === undefined ? Number.NaN : fromLocal(local + (moved + days - day) * DAY_MS, zone) + ms;
}

function addMonths(day: number, months: number): number | undefined {
  const civil = toCivil(day);
  const month = civil.year * 12 + civil.month - 1 + months;
  const first = { year: Math.floor(month / 12), month: (((month % 12) + 12) % 12) + 1 };
  for (let last = civil.day; last > 27; last -= 1) {
    const found = toDays({ ...first, day: last });
    if (found !== undefined) return found;
  }
  return toDays({ ...first, day: civil.day });
}

function countComplete(start: number, end: number, step: Amount, zone: Zone): number {
  const about = Math.floor((end - start) / (step.months > 0 ? step.months * 28 * DAY_MS : step.days * DAY_MS)) + 2;
  const after = (count: number) =>
    addAmount(start, { months: step.months * count, days: step.days * count, ms: 0 }, zone);
  let [low, high] = [0, about];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (after(middle) <= end) low = middle;
    else high = middle - 1;
  }
  return low;
}

function readTime(value: Json | undefined, zone: Zone): number | undefined {
  const read = typeof value === "string" ? readIsoTime(value) : undefined;
  if (read === undefined) return undefined;
  return read.offsetMs === undefined ? fromLocal(read.localMs, zone) : read.localMs - read.offsetMs;
}

/** A time that the clock shows twice is the earlier one; one that it skips is as much later as it skips. */
function fromLocal(localMs: number, zone: Zone): number {
  const before = zone.offsetAt(localMs - DAY_MS);
  const after = zone.offsetAt(localMs + DAY_MS);
  if (before === after) return localMs - before;
  const isAt = (offset: number) => zone.offsetAt(localMs - offset) === offset;
  return isAt(before) || !isAt(after) ? localMs - before : localMs - after;
}

interface Zone {
  /** How far its clock is ahead of UTC, in milliseconds. */
  offsetAt(epochMs: number): number;
}

const UTC: Zone = { offsetAt: () => 0 };
const FORMATS = new BoundedMap<string, Intl.DateTimeFormat>(50);

export function isZone(name: string): boolean {
  return openFormat(name) !== undefined;
}

/** Undefined: there is no such zone. */
function openZone(name: Json, work: Work): Zone | undefined {
  if (name === "UTC") return UTC;
  const format = typeof name === "string" ? openFormat(name) : undefined;
  if (format === undefined) return undefined;
  return {
    offsetAt: (epochMs) => {
      work.pay(LOOKS_PER_ZONE);
      return Math.abs(epochMs) > MAX_TIME_MS ? 0 : readOffset(format, epochMs);
    },
  };
}

const MAX_TIME_MS = 8_640_000_000_000_000;

function openFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  const known = FORMATS.get(timeZone);
  if (known !== undefined) return known;
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
    FORMATS.set(timeZone, format);
    return format;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readOffset(format: Intl.DateTimeFormat, epochMs: number): number {
  const name = format.formatToParts(epochMs).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours, minutes, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  const size = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1_000;
  return sign === "-" ? -size : size;
}

const MONTHS = "January February March April May June July August September October November December".split(" ");
const DAYS = "Thursday Friday Saturday Sunday Monday Tuesday Wednesday".split(" ");

type Clock = ReturnType<typeof readClock>;

function readClock(local: number, offset: number) {
  const day = Math.floor(local / DAY_MS);
  const ms = local - day * DAY_MS;
  return { ...toCivil(day), weekday: DAYS[((day % 7) + 7) % 7] ?? "", ms, hour: Math.floor(ms / 3_600_000), offset };
}

const pad = (value: number, length = 2) => String(value).padStart(length, "0");

const PARTS: ReadonlyMap<string, (clock: Clock) => string> = new Map<string, (clock: Clock) => string>([
  ["yyyy", ({ year }) => pad(year, 4)],
  ["yy", ({ year }) => pad(year % 100)],
  ["MMMM", ({ month }) => MONTHS[month - 1] ?? ""],
  ["MMM", ({ month }) => MONTHS[month - 1]?.slice(0, 3) ?? ""],
  ["MM", ({ month }) => pad(month)],
  ["M", ({ month }) => String(month)],
  ["dd", ({ day }) => pad(day)],
  ["d", ({ day }) => String(day)],
  ["EEEE", ({ weekday }) => weekday],
  ["EEE", ({ weekday }) => weekday.slice(0, 3)],
  ["HH", ({ hour }) => pad(hour)],
  ["H", ({ hour }) => String(hour)],
  ["hh", ({ hour }) => pad(hour % 12 || 12)],
  ["h", ({ hour }) => String(hour % 12 || 12)],
  ["mm", ({ ms }) => pad(Math.floor(ms / 60_000) % 60)],
  ["ss", ({ ms }) => pad(Math.floor(ms / 1_000) % 60)],
  ["SSS", ({ ms }) => pad(ms % 1_000, 3)],
  ["a", ({ hour }) => (hour < 12 ? "AM" : "PM")],
  ["XXX", ({ offset }) => writeOffset(offset)],
  ["T", () => "T"],
]);

function writeOffset(offset: number): string {
  if (offset === 0) return "Z";
  const minutes = Math.floor(Math.abs(offset) / 60_000);
  return `${offset < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

/** The letters of a pattern of `format` that stand for a part of a time. */
export const FORMAT_LETTERS: string = [...PARTS.keys()].join(" ");
