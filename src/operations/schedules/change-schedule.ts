import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isEverything, meet } from "../../core/trust/grant.ts";
import type {
  Changes,
  NewSlot,
  ScheduleEdit,
  ScheduleSettings,
  StoredSchedule,
} from "../../ports/service/schedules.ts";
import type { StartPorts } from "../application/ports.ts";
import { grantOfSaved } from "../definitions/grant-of-saved.ts";
import { checkStart, neverFires } from "./create-schedule.ts";
import { decideClaim } from "./decide-claim.ts";
import {
  describeSchedule,
  findSchedule,
  type ScheduleApplication,
  type ScheduleDescription,
} from "./describe-schedule.ts";
import { openFireTimes, type Timetable, toNext } from "./fire-times.ts";
import { checkNotify } from "./schedule-notify.ts";

/** Somebody else may be faster so many times in a row. */
const MAX_TRIES = 5;

/**
 * Changes what is given. Slots that passed while it was disabled are told of in one record, and are not caught up. Throws
 * `SCHEDULE_NOT_FOUND`, `SCHEDULE_DEFINED`, and what `createSchedule` throws.
 */
export async function changeSchedule(
  app: StartPorts,
  id: string,
  change: Changes<ScheduleSettings>,
): Promise<ScheduleDescription> {
  if (change.notify !== undefined && change.notify !== null) checkNotify(app, change.notify);
  const { schedules } = await app.service();
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const schedule = await findSchedule(app, id);
    if (await schedules.edit(schedule.id, await toEdit(app, schedule, change)))
      return describeSchedule(app, await findSchedule(app, id));
  }
  throw new PawlError("SCHEDULE_CONFLICT", { message: `The schedule "${id}" is being changed by another process.` });
}

async function toEdit(
  app: StartPorts,
  schedule: StoredSchedule,
  change: Changes<ScheduleSettings>,
): Promise<ScheduleEdit> {
  const { cron = schedule.cron, timezone = schedule.timezone, input, enabled } = change;
  const timetable = { cron: cron.trim(), timezone };
  refuseDefined(schedule, { timetable, change });
  if (input !== undefined) await checkStart(app, schedule.workflow, input);
  const now = app.clock.now();
  const jitterSeconds = change.jitterSeconds ?? schedule.jitterSeconds;
  const hasMoved = timetable.cron !== schedule.cron || timezone !== schedule.timezone;
  const wakes = enabled === true && !schedule.enabled;
  const isNew = hasMoved || wakes || jitterSeconds !== schedule.jitterSeconds;
  const next = isNew
    ? toNext(await openFireTimes(timetable), { id: schedule.id, jitterSeconds, afterMs: now })
    : undefined;
  if (hasMoved && next?.nextFireAt === undefined) throw neverFires(cron);
  const { maxRunCostMicro: maxCostMicro } = app;
  return {
    version: schedule.version,
    at: now,
    changes: {
      ...change,
      ...timetable,
      ...(enabled === undefined ? {} : { disabledReason: enabled ? null : "paused" }),
      ...(next === undefined ? {} : { nextFireAt: next.nextFireAt ?? null, dueAt: next.dueAt ?? null }),
      ...(isEverything(app.grant) ? {} : { grant: meet(grantOfSaved(schedule), app.grant) }),
      // Whoever says with what it runs asks for its runs.
      ...(input === undefined ? {} : { requestedBy: app.key?.name ?? null }),
      // A key that changes a schedule cannot make it spend more than the key may.
      ...(maxCostMicro === undefined
        ? {}
        : { maxCostMicro: Math.min(maxCostMicro, schedule.maxCostMicro ?? Infinity) }),
    },
    slots: isNew ? await leftOut(schedule, now) : [],
  };
}

/**
 * Decides what happens to slots that have passed when a schedule is planned anew: those of an enabled one as ever, those of a disabled
 * one are told of in one record.
 */
export async function leftOut(schedule: StoredSchedule, now: number): Promise<readonly NewSlot[]> {
  const { nextFireAt, enabled, disabledReason } = schedule;
  if (nextFireAt === undefined || nextFireAt > now) return [];
  // Nothing waits for its jitter any more: there is nobody who would remember that it did.
  if (enabled) return (await decideClaim({ ...schedule, jitterSeconds: 0 }, now))?.slots ?? [];
  const { latest, count } = await (await openFireTimes(schedule)).between(nextFireAt, now);
  const last = latest.at(-1);
  return [
    {
      slot: nextFireAt,
      kind: "cron",
      outcome: { state: "skipped", reason: disabledReason === "definition_removed" ? disabledReason : "disabled" },
      count,
      at: now,
      ...(count === 1 || last === undefined ? {} : { lastSlot: last }),
    },
  ];
}

/** The definition says when: a change here would be gone with the next look at it. */
function refuseDefined(
  schedule: StoredSchedule,
  { timetable, change }: { readonly timetable: Timetable; readonly change: Changes<ScheduleSettings> },
): void {
  if (schedule.source === "api") return;
  const { cron, timezone } = timetable;
  if (cron !== schedule.cron || timezone !== schedule.timezone)
    throw new PawlError("SCHEDULE_DEFINED", {
      message: `The definition of "${schedule.workflow}" says when it starts.`,
    });
  const settings = schedule.says ?? {};
  const said = (["input", "overlap", "catchUp"] as const).find(
    (each) =>
      Object.hasOwn(settings, each) && writeExact(change[each] ?? schedule[each]) !== writeExact(schedule[each]),
  );
  if (said !== undefined)
    throw new PawlError("SCHEDULE_DEFINED", {
      message: `The definition of "${schedule.workflow}" says the \`${said}\` of this schedule.`,
    });
  if (change.enabled === true && schedule.disabledReason === "definition_removed")
    throw new PawlError("SCHEDULE_DEFINED", {
      message: `The definition of "${schedule.workflow}" has no schedule any more.`,
    });
}

/** Removes a schedule with the record of its slots, and returns its whole id. Throws `SCHEDULE_NOT_FOUND`, `SCHEDULE_DEFINED`. */
export async function removeSchedule(app: ScheduleApplication, id: string): Promise<string> {
  const schedule = await findSchedule(app, id);
  if (schedule.source !== "api" && schedule.disabledReason !== "definition_removed")
    throw new PawlError("SCHEDULE_DEFINED", {
      message: `The definition of "${schedule.workflow}" has this schedule: removed here, it would come back.`,
    });
  await (await app.service()).schedules.remove(schedule.id);
  return schedule.id;
}
