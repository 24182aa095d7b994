import { setImmediate as nextTurn } from "node:timers/promises";
import type { Place, Principal, Stores } from "../application/ports.ts";
import {
  describeSchedule,
  describeSlot,
  findSchedule,
  type ScheduleApplication,
  type ScheduleDescription,
  type SlotDescription,
} from "./describe-schedule.ts";

/** Oldest first. */
export async function listSchedules(app: Place & Principal & Stores): Promise<readonly ScheduleDescription[]> {
  const { tenantId } = app;
  const schedules = await (await app.service()).schedules.list(tenantId === undefined ? {} : { tenantId });
  const described: ScheduleDescription[] = [];
  for (const schedule of schedules) {
    described.push(await describeSchedule(app, schedule));
    // Times are computed: there may be thousands of schedules, and others wait for an answer.
    await nextTurn();
  }
  return described;
}

/** Throws `SCHEDULE_NOT_FOUND`. */
export async function showSchedule(app: ScheduleApplication, id: string): Promise<ScheduleDescription> {
  return describeSchedule(app, await findSchedule(app, id));
}

export interface SlotsPage {
  readonly limit: number;
  readonly cursor?: string;
  readonly offset?: number;
}

/** Lists the outcomes of its slots, newest first. Throws `SCHEDULE_NOT_FOUND`. */
export async function listScheduleSlots(
  app: ScheduleApplication,
  id: string,
  { limit, cursor, offset }: SlotsPage,
): Promise<{ readonly items: readonly SlotDescription[]; readonly next_cursor: string | null }> {
  const schedule = await findSchedule(app, id);
  const beforeSeq = cursor === undefined ? undefined : Number.parseInt(cursor, 10);
  const slots = await (await app.service()).schedules.listSlots(schedule.id, {
    limit: limit + 1,
    ...(beforeSeq === undefined ? {} : { beforeSeq: Number.isSafeInteger(beforeSeq) ? beforeSeq : 0 }),
    offset,
  });
  const page = slots.slice(0, limit);
  return {
    items: page.map(describeSlot),
    next_cursor: slots.length > limit ? String(page.at(-1)?.seq ?? 0) : null,
  };
}

/** For clients that page by number. */
export async function countScheduleSlots(app: ScheduleApplication, id: string): Promise<number> {
  const schedule = await findSchedule(app, id);
  return (await app.service()).schedules.countSlots(schedule.id);
}
