import type { Budget } from "../../../../core/history/run-state.ts";
import type { RunLimitsDescription } from "../../../../operations/limits/use-limits.ts";

/** `850 ms`, `12.3 s`, `3 min 02 s`, `2 h 05 min`, `3 d 04 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.floor(ms))} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 3_600) return pair(seconds, 60, "min", "s");
  if (seconds < 86_400) return pair(Math.floor(seconds / 60), 60, "h", "min");
  return pair(Math.floor(seconds / 3_600), 24, "d", "h");
}

function pair(small: number, size: number, largeUnit: string, smallUnit: string): string {
  return `${Math.floor(small / size)} ${largeUnit} ${String(small % size).padStart(2, "0")} ${smallUnit}`;
}

/** Local time of the day, with the date where it is another day than now. */
export function formatTime(at: number, now: number): string {
  const time = new Date(at);
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(":");
  return time.toDateString() === new Date(now).toDateString() ? clock : `${formatDate(time)} ${clock}`;
}

function formatDate(time: Date): string {
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** `$1.42`; below ten cents with what is needed to see something; `+?` where part of it has no known price. */
export function formatUsd(usd: number, { unpriced = false, atMost = usd as number | null } = {}): string {
  if (usd === 0 && unpriced && (atMost === null || atMost === usd)) return "$?";
  const most = atMost === null || atMost <= usd ? "" : ` (at most ${writeUsd(atMost)})`;
  return `${writeUsd(usd)}${unpriced && most === "" ? "+?" : ""}${most}`;
}

/** Calls in flight are left out: what they may cost would come and go. */
export function formatBudget({ spentMicro, lostMicro, unpriced }: Budget): string {
  return formatUsd(spentMicro / 1_000_000, { unpriced, atMost: (spentMicro + lostMicro) / 1_000_000 });
}

function writeUsd(usd: number): string {
  return `$${usd.toFixed(usd === 0 || usd >= 0.1 ? 2 : 4)}`;
}

/** `2000 tokens, 10 steps, then a person is asked`. */
export function showLimits({ max_tokens, max_steps, max_seconds, on_exceeded }: RunLimitsDescription): string {
  return [
    ...(max_tokens === undefined ? [] : [`${max_tokens} tokens`]),
    ...(max_steps === undefined ? [] : [`${max_steps} tries of steps`]),
    ...(max_seconds === undefined ? [] : [`${max_seconds} s`]),
    on_exceeded === "ask" ? "then a person is asked" : "then it stops",
  ].join(", ");
}

/** Enough of a run's id to name it: the time to the millisecond and some chance. */
export function shortId(runId: string): string {
  return runId.slice(0, SHORT_LENGTH);
}

const SHORT_LENGTH = 18;
