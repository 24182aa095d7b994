import { PawlError } from "../../core/errors/pawl-error.ts";
import { findSchedule, type ScheduleApplication } from "./describe-schedule.ts";

/** Removes a schedule with the record of its slots, and returns its whole id. Throws `SCHEDULE_NOT_FOUND`, `SCHEDULE_DEFINED`. */
export async function removeSchedule(app: ScheduleApplication, id: string): Promise<string> {
  const schedule = await findSchedule(app, id);
  if (schedule.source !== "api" && schedule.disabledReason !== "definition_removed") {
    throw new PawlError("SCHEDULE_DEFINED", {
      message: `The definition of "${schedule.workflow}" has this schedule: removed here, it would come back.`,
    });
  }
  await (await app.service()).schedules.remove(schedule.id);
  return schedule.id;
}
