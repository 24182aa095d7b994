import { PawlError } from "../../core/errors/pawl-error.ts";
import { findSchedule, type ScheduleApplication } from "./describe-schedule.ts";

/** With what is known of its slots; its runs stay. Throws `SCHEDULE_NOT_FOUND`, `SCHEDULE_DEFINED`. */
export async function removeSchedule(app: ScheduleApplication, id: string): Promise<void> {
  const schedule = await findSchedule(app, id);
  if (schedule.source !== "api" && schedule.disabledReason !== "definition_removed") {
    throw new PawlError("SCHEDULE_DEFINED", {
      message: `The definition of "${schedule.workflow}" has this schedule: removed here, it would come back.`,
    });
  }
  await (await app.service()).schedules.remove(schedule.id);
}
