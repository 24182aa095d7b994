import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Cron } from "croner";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isTimezone } from "../../core/iso-time.ts";
import { explainCron } from "../../dialects/explain-cron.ts";

export interface Timetable {
  readonly cron: string;
  /** IANA. */
  readonly timezone: string;
}

interface Slots {
  /** The last of them, oldest first. */
  readonly latest: readonly number[];
  readonly first: number;
  /** At least. */
  readonly count: number;
}

/** So many slots are counted one by one, at some 50 microseconds each: a thousand schedules may have slept for a year. */
const MAX_COUNTED = 250;
/** One more than are ever caught up, to tell which one was skipped last. */
const MAX_LATEST = 101;
/** Then others have their turn. */
const COUNTED_AT_ONCE = 50;

/**
 * The slots of a cron expression, at the minute. Where clocks change: a time that the night leaves out is due at the first
 * moment after it, once; one that the night has twice is due the first time only. What has a wildcard or a step in its
 * minutes or hours follows the clock on the wall instead: each hour of a night has its slots.
 */
export class FireTimes {
  readonly #cron: Cron;

  constructor(cron: Cron) {
    this.#cron = cron;
  }

  /** Undefined: there is none any more. */
  next(afterMs: number): number | undefined {
    return this.#cron.nextRun(new Date(afterMs))?.getTime();
  }

  /** Those from `first`, which is one, until `nowMs`. */
  async between(first: number, nowMs: number): Promise<Slots> {
    const slots: number[] = [];
    for (let slot: number | undefined = first; slot !== undefined && slot <= nowMs; slot = this.next(slot)) {
      if (slots.length === MAX_COUNTED) {
        const latest = this.#cron.previousRuns(MAX_LATEST, new Date(nowMs + 1_000)).map((date) => date.getTime());
        return { latest: latest.reverse().filter((each) => each <= nowMs), first, count: MAX_COUNTED };
      }
      slots.push(slot);
      if (slots.length % COUNTED_AT_ONCE === 0) await nextTurn();
    }
    return { latest: slots.slice(-MAX_LATEST), first, count: slots.length };
  }
}

/** Throws `CRON_INVALID`, `TIMEZONE_INVALID`. */
export async function openFireTimes({ cron, timezone }: Timetable): Promise<FireTimes> {
  if (!isTimezone(timezone))
    throw new PawlError("TIMEZONE_INVALID", { message: `There is no time zone "${timezone.slice(0, 100)}".` });
  const fault = await explainCron(cron);
  if (fault !== undefined) throw new PawlError("CRON_INVALID", { message: `"${cron.slice(0, 100)}": ${fault}` });
  const { Cron } = await import("croner");
  // Without a function to call it only computes.
  return new FireTimes(new Cron(cron.trim(), { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" }));
}

/** The next slot, and when it is due: nothing where there is none any more. */
export function toNext(
  times: FireTimes,
  { id, jitterSeconds, afterMs }: { readonly id: string; readonly jitterSeconds: number; readonly afterMs: number },
): { readonly nextFireAt?: number; readonly dueAt?: number } {
  const nextFireAt = times.next(afterMs);
  if (nextFireAt === undefined) return {};
  return { nextFireAt, dueAt: nextFireAt + jitterOf(id, jitterSeconds, nextFireAt) };
}

/** The same for a slot whoever asks, so that a restart draws no other one. */
export function jitterOf(id: string, jitterSeconds: number, slot: number): number {
  if (jitterSeconds === 0) return 0;
  const drawn = Number.parseInt(hash("sha256", `${id} ${slot}`).slice(0, 8), 16) / 2 ** 32;
  return Math.floor(drawn * jitterSeconds * 1_000);
}

/** Shows moments as the clocks of a zone do: `2026-03-29T03:00:00+02:00`. To open a zone takes longer than to show one. */
export function openZonedTime(timezone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  return (ms) => {
    const parts = format.formatToParts(new Date(ms));
    const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
    const offset = of("timeZoneName").replace("GMT", "");
    return `${of("year")}-${of("month")}-${of("day")}T${of("hour")}:${of("minute")}:${of("second")}${offset || "Z"}`;
  };
}
