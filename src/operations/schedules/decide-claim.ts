import type { NewSlot, SlotClaim, StoredSchedule } from "../../ports/service/schedules.ts";
import { jitterOf, openFireTimes, toNext } from "./fire-times.ts";

/** A process that is busy, or starts again, is late by so much: that is no slot missed. */
const GRACE_MS = 60_000;
const MAX_CAUGHT_UP = 100;

/**
 * Decides what happens to slots that are due: those on time are claimed; of the late ones none, the last one, or the last hundred.
 * All others are told of in one record. Undefined: none is due.
 */
export async function decideClaim(schedule: StoredSchedule, now: number): Promise<SlotClaim | undefined> {
  const { id, jitterSeconds, nextFireAt: from, version } = schedule;
  if (from === undefined) return undefined;
  const times = await openFireTimes(schedule);
  const dueAtOf = (slot: number) => slot + jitterOf(id, jitterSeconds, slot);
  const { latest, count } = await times.between(from, now);
  // One whose jitter keeps it waiting keeps those behind it waiting too.
  const waiting = latest.findIndex((slot) => dueAtOf(slot) > now);
  const due = waiting === -1 ? latest : latest.slice(0, waiting);
  const last = due.at(-1);
  if (last === undefined) return undefined;
  const onTime = due.filter((slot) => now - dueAtOf(slot) <= GRACE_MS);
  const chosen = choose(schedule, { due, onTime });
  const skipped = count - (latest.length - due.length) - chosen.length;
  const next = toNext(times, { id, jitterSeconds, afterMs: last });
  return {
    version,
    fromFireAt: from,
    nextFireAt: next.nextFireAt,
    dueAt: next.dueAt,
    slots: [
      ...(skipped === 0 ? [] : [missed({ from, count: skipped, last: due[due.length - chosen.length - 1], now })]),
      ...chosen.map((slot): NewSlot => ({ slot, kind: "cron", outcome: { state: "claimed" }, at: now })),
    ],
  };
}

interface DueSlots {
  readonly due: readonly number[];
  readonly onTime: readonly number[];
}

/** Always the last so many of those that are due. */
function choose({ catchUp }: StoredSchedule, { due, onTime }: DueSlots): readonly number[] {
  switch (catchUp) {
    case "none":
      return onTime.slice(-MAX_CAUGHT_UP);
    case "one":
      return onTime.length > 0 ? onTime.slice(-MAX_CAUGHT_UP) : due.slice(-1);
    case "all":
      return due.slice(-MAX_CAUGHT_UP);
  }
}

interface Missed {
  readonly from: number;
  readonly last: number | undefined;
  readonly count: number;
  readonly now: number;
}

function missed({ from, last, count, now }: Missed): NewSlot {
  return {
    slot: from,
    kind: "cron",
    outcome: { state: "skipped", reason: "missed" },
    count,
    at: now,
    ...(count === 1 || last === undefined ? {} : { lastSlot: last }),
  };
}
