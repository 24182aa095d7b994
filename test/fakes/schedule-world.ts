import { onTestFinished } from "vitest";
import type { ScheduleDescription, SlotDescription } from "../../src/operations/schedules/describe-schedule.ts";
import { listScheduleSlots, listSchedules } from "../../src/operations/schedules/list-schedules.ts";
import { Scheduler } from "../../src/triggers/schedules/scheduler.ts";
import { quiet } from "./fake-clock.ts";
import type { HttpWorld } from "./http-world.ts";

/** A process that fires the schedules of a world. */
export function schedulerOf({ parts, runner, world, defects }: HttpWorld, failures: unknown[] = []): Scheduler {
  const scheduler = new Scheduler({
    app: parts.app,
    host: world.host,
    runner,
    failed: (_, error) => failures.push(error),
    onDefect: (error) => defects.push(error),
  });
  onTestFinished(() => scheduler.stop());
  return scheduler;
}

export async function passTime({ world }: HttpWorld, ms: number): Promise<void> {
  await world.clock.advance(ms);
  await quiet();
}

export async function theSchedule({ parts }: HttpWorld): Promise<ScheduleDescription> {
  const [schedule] = await listSchedules(parts.app);
  if (schedule === undefined) throw new Error("There is no schedule.");
  return schedule;
}

/** What became of slots, oldest first. */
export async function slotsOf(world: HttpWorld): Promise<readonly SlotDescription[]> {
  const { schedule_id: id } = await theSchedule(world);
  return [...(await listScheduleSlots(world.parts.app, id, { limit: 200 })).items].reverse();
}

/** `08:00 started`, and of several in a row `08:00-11:00 missed`. */
export async function shortSlotsOf(world: HttpWorld): Promise<readonly string[]> {
  return (await slotsOf(world)).map(({ slot, last_slot: last, state, reason }) => {
    const until = last === null ? "" : `-${last.slice(11, 16)}`;
    return `${slot.slice(11, 16)}${until} ${reason ?? state}`;
  });
}
