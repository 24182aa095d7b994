import { z } from "zod";
import type { Place } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { showNextTimes } from "./describe-schedule.ts";
import { openFireTimes } from "./fire-times.ts";

export const previewSchedule = defineOperation({
  id: "previewSchedule",
  summary: "Tell when a cron expression fires next, before a schedule is made of it",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    cron: z.string().min(1).max(200).describe("Five fields, for example `0 6 * * 1-5`."),
    timezone: z.string().min(1).max(100).default("UTC").describe("A name of the IANA database."),
  }),
  output: z.object({
    next_fire_times: z.array(z.string()).describe("The next five, as the clocks of the zone show them."),
  }),
  errors: ["CRON_INVALID", "TIMEZONE_INVALID"],
  http: { method: "GET", path: "/schedules/preview" },
  cli: { no: "`schedules create` tells the next times of what it makes." },
  mcp: { no: "`create_schedule` tells the next times of what it makes." },
  async handle({ app }: OperationContext<Place>, timetable) {
    const times = await openFireTimes(timetable);
    return { next_fire_times: showNextTimes(times, timetable.timezone, times.next(app.clock.now())) };
  },
});
