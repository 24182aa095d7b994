import { z } from "zod";
import type { Application } from "../../../operations/application/application.ts";
import { changeSchedule } from "../../../operations/schedules/change-schedule.ts";
import { createSchedule } from "../../../operations/schedules/create-schedule.ts";
import { listScheduleSlots, listSchedules, showSchedule } from "../../../operations/schedules/list-schedules.ts";
import { removeSchedule } from "../../../operations/schedules/remove-schedule.ts";
import { runScheduleNow } from "../../../operations/schedules/run-schedule.ts";
import { inputArgument, limitArgument, scheduleIdArgument, workflowNameArgument } from "./arguments.ts";
import { defineServiceTool, type ServiceTool } from "./service-tool.ts";

const reads = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
const writes = { readOnly: false, destructive: false, idempotent: false, openWorld: false };
const schedule = { schedule_id: z.string(), workflow_name: z.string(), cron_expression: z.string() };
const cron = z.string().min(1).max(200).describe("Five fields, for example `0 6 * * 1-5`.");
const timezone = z.string().min(1).max(100).optional().describe("A name of the IANA database; default UTC.");
const overlap = z
  .enum(["skip", "queue", "cancel_previous"])
  .optional()
  .describe("While the run before is under way; default skip.");
const catchUp = z
  .enum(["none", "one", "all"])
  .optional()
  .describe("Of slots that passed while nobody served; default one.");

export const SCHEDULE_TOOLS: readonly ServiceTool[] = [
  defineServiceTool({
    name: "create_schedule",
    scope: "write",
    title: "Create a schedule",
    description:
      "Starts a workflow by the clock from now on. Only a `pawl serve` fires schedules: `note` says if there is none.",
    input: z.strictObject({
      workflow_name: workflowNameArgument,
      cron_expression: cron,
      input_data: inputArgument,
      timezone,
      overlap,
      catch_up: catchUp,
    }),
    output: schedule,
    hints: writes,
    perform: async (app, { workflow_name: workflow, cron_expression: expression, input_data: input, ...rest }) => {
      const created = await createSchedule(app, {
        workflow,
        cron: expression,
        input,
        timezone: rest.timezone,
        overlap: rest.overlap,
        catchUp: rest.catch_up,
      });
      return { ...created, ...(await noteOf(app)) };
    },
  }),
  defineServiceTool({
    name: "list_schedules",
    scope: "read",
    title: "List schedules",
    description: "What starts workflows by the clock, oldest first, with the next times of each.",
    input: z.strictObject({}),
    output: { items: z.array(z.looseObject(schedule)) },
    hints: reads,
    perform: async (app) => ({ items: await listSchedules(app) }),
  }),
  defineServiceTool({
    name: "update_schedule",
    scope: "write",
    title: "Change a schedule",
    description: "Changes what is given; `enabled: false` pauses it.",
    input: z.strictObject({
      schedule_id: scheduleIdArgument,
      enabled: z.boolean().optional(),
      cron_expression: cron.optional(),
      input_data: inputArgument,
      timezone,
      overlap,
      catch_up: catchUp,
    }),
    output: schedule,
    hints: { ...writes, idempotent: true },
    perform: async (app, { schedule_id: id, cron_expression: expression, input_data: input, ...rest }) => {
      const { schedule_id: whole } = await showSchedule(app, id);
      return changeSchedule(app, whole, {
        cron: expression,
        input,
        enabled: rest.enabled,
        timezone: rest.timezone,
        overlap: rest.overlap,
        catchUp: rest.catch_up,
      });
    },
  }),
  defineServiceTool({
    name: "run_schedule",
    scope: "run",
    title: "Run a schedule now",
    description: "Starts a run of a schedule now, beside its slots.",
    input: z.strictObject({ schedule_id: scheduleIdArgument }),
    output: { run_id: z.string() },
    hints: { ...writes, openWorld: true },
    perform: async (app, { schedule_id: id }) => {
      const { schedule_id: whole } = await showSchedule(app, id);
      const runId = await runScheduleNow(app, whole, async (prepared) => (await app.host()).startRun(prepared));
      return { run_id: runId, status: "queued" };
    },
  }),
  defineServiceTool({
    name: "list_schedule_slots",
    scope: "read",
    title: "List what became of a schedule's slots",
    description: "What became of the slots of a schedule, newest first: started with which run, or skipped and why.",
    input: z.strictObject({ schedule_id: scheduleIdArgument, limit: limitArgument }),
    output: { items: z.array(z.looseObject({ slot: z.string() })) },
    hints: reads,
    perform: async (app, { schedule_id: id, limit }) => {
      const { items, nextCursor } = await listScheduleSlots(app, id, { limit });
      return { items, next_cursor: nextCursor };
    },
  }),
  defineServiceTool({
    name: "delete_schedule",
    scope: "write",
    title: "Delete a schedule",
    description: "Removes a schedule. Its runs stay.",
    input: z.strictObject({ schedule_id: scheduleIdArgument }),
    output: { schedule_id: z.string() },
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    perform: async (app, { schedule_id: id }) => {
      const { schedule_id: whole } = await showSchedule(app, id);
      await removeSchedule(app, whole);
      return { schedule_id: whole };
    },
  }),
];

async function noteOf(app: Application): Promise<object> {
  const owner = await app.findOwner();
  if (owner.state === "held" && owner.url !== undefined) return {};
  return { note: "Nobody serves at the moment, and only who serves fires schedules: pawl serve" };
}
