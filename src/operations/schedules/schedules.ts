import { z } from "zod";
import {
  type Driving,
  isServed,
  type Place,
  type Principal,
  type StartPorts,
  type Stores,
} from "../application/ports.ts";
import { defineOperation, type OperationContext, type Shown } from "../operation.ts";
import { acceptedRunSchema } from "../runs/run-schemas.ts";
import {
  aliasOf,
  idempotencyKey,
  idField,
  listOf,
  numberedPage,
  offsetQuery,
  pageQuery,
  takePage,
} from "../schemas.ts";
import { describeSubmitted } from "../start/submit-run.ts";
import { changeSchedule as change, removeSchedule as remove } from "./change-schedule.ts";
import { createSchedule as create } from "./create-schedule.ts";
import {
  describeSchedule,
  findSchedule,
  type GivenSettings,
  type ScheduleDescription,
  scheduleSchema,
  settingsShape,
  slotSchema,
  toSettings,
} from "./describe-schedule.ts";
import { countScheduleSlots, listSchedules as list, listScheduleSlots as listSlots } from "./list-schedules.ts";
import { toScheduleRequest } from "./run-schedule.ts";

const workflow = z.string().min(1).max(200);

const ONE_INPUT = { message: "`input` and `input_data` are two names of the same: send one" };
const hasOneInput = (given: GivenSettings) => given.input === undefined || given.input_data === undefined;

const id = idField("The schedule's id, or the beginning of it.", "schedules ls");

const NOTIFY_OPTIONS = [
  {
    flags: "--notify-webhook <url>",
    summary: "tell this address what became of its runs",
    at: ["notify", "webhook", "url"],
  },
  { flags: "--notify-slack <url>", summary: "tell a channel, by its incoming webhook", at: ["notify", "slack", "url"] },
  {
    flags: "--notify-email <address>",
    summary: "tell by e-mail (SMTP_URL)",
    at: ["notify", "email", "to"],
    isList: true,
  },
  {
    flags: "--notify-on <outcome>",
    summary: "of which runs",
    at: ["notify", "on"],
    choices: ["always", "failure", "success"],
  },
] as const;

const OPTIONS = { jitter_seconds: "--jitter <seconds>", enabled: false, notify: false } as const;

export const createSchedule = defineOperation({
  id: "createSchedule",
  summary: "Start a workflow by the clock from now on",
  scope: "write",
  effect: "writes",
  input: z
    .strictObject({
      workflow: workflow.optional().describe("The name of a registered workflow."),
      workflow_name: aliasOf("workflow", workflow),
      ...settingsShape,
    })
    .refine((given) => (given.workflow === undefined) !== (given.workflow_name === undefined), {
      message: "exactly one of `workflow` and `workflow_name` must be there",
    })
    .refine((given) => (given.cron === undefined) !== (given.cron_expression === undefined), {
      message: "exactly one of `cron` and `cron_expression` must be there",
    })
    .refine(hasOneInput, ONE_INPUT)
    .meta({ id: "NewSchedule" }),
  output: scheduleSchema.extend({ note: z.string().optional().describe("That no server fires it at the moment.") }),
  errors: ["CRON_INVALID", "TIMEZONE_INVALID", "WORKFLOW_NOT_FOUND", "DEFINITION_INVALID", "INPUT_INVALID"],
  http: { method: "POST", path: "/schedules", status: 201 },
  cli: {
    verb: "schedules create",
    args: ["workflow", "cron"],
    options: OPTIONS,
    parts: NOTIFY_OPTIONS,
    show: ({ schedule_id, next_fire_times: next, note }) => ({
      data: schedule_id,
      told: [`Next: ${next.join(", ")}`, ...(note === undefined ? [] : [note])],
    }),
    example: "schedules create lead-enrichment '0 6 * * 1-5' --timezone Europe/Berlin",
  },
  mcp: {
    tool: "create_schedule",
    title: "Create a schedule",
    description:
      "Starts a workflow by the clock from now on. Only a `pawl serve` fires schedules: `note` says if there is none.",
    without: ["workflow", "cron", "input"],
    required: ["workflow_name", "cron_expression"],
  },
  async handle({ app, by }: OperationContext<StartPorts & Driving>, given) {
    const { workflow, workflow_name: name = "" } = given;
    const created = await create(app, { cron: "", ...toSettings(given), workflow: workflow ?? name });
    return { ...created, ...(by === "api" ? {} : await noteOf(app)) };
  },
});

async function noteOf(app: Driving): Promise<{ readonly note?: string }> {
  if (await isServed(app)) return {};
  return { note: "No server runs at the moment, and only a server fires schedules: pawl serve" };
}

export const listSchedules = defineOperation({
  id: "listSchedules",
  summary: "List the schedules, oldest first",
  scope: "read",
  effect: "reads",
  input: z.strictObject(numberedPage),
  output: listOf(scheduleSchema),
  http: { method: "GET", path: "/schedules" },
  cli: {
    verb: "schedules ls",
    table: {
      empty: "There are no schedules. Make one: pawl schedules create WORKFLOW '0 6 * * 1-5'",
      columns: (schedule) => ({
        ID: { id: schedule.schedule_id },
        WORKFLOW: schedule.workflow_name,
        CRON: schedule.cron_expression,
        ZONE: schedule.timezone,
        FROM: schedule.source === "definition" ? "file" : schedule.source,
        NEXT: schedule.enabled ? { time: schedule.next_fire_at, never: "never" } : toDisabled(schedule),
        "LAST RUN": { id: schedule.last_run_id },
      }),
    },
  },
  mcp: {
    tool: "list_schedules",
    title: "List schedules",
    description: "What starts workflows by the clock, oldest first, with the next times of each.",
  },
  word: (schedule) => ({
    text: schedule.schedule_id,
    meaning: `${schedule.workflow_name}, ${schedule.cron_expression}`,
  }),
  handle: async ({ app }: OperationContext<Place & Principal & Stores>, page) => takePage(await list(app), page),
  count: async ({ app }: OperationContext<Place & Principal & Stores>) => (await list(app)).length,
});

function toDisabled({ disabled_reason: reason, source }: ScheduleDescription): string {
  if (reason !== "definition_removed") return "paused";
  return source === "saved" ? "not saved any more" : "gone from its file";
}

export const getSchedule = defineOperation({
  id: "getSchedule",
  summary: "Show a schedule and its next five times",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ id }),
  output: scheduleSchema,
  errors: ["SCHEDULE_NOT_FOUND"],
  http: { method: "GET", path: "/schedules/{id}" },
  cli: {
    verb: "schedules next",
    args: ["id"],
    show: ({ schedule_id, enabled, next_fire_times: next }) => ({
      data: next.join("\n"),
      told: enabled ? [] : [`It is disabled. Fire it again: pawl schedules resume ${schedule_id}`],
    }),
  },
  mcp: { no: "`list_schedules` tells the same of each." },
  handle: async ({ app }: OperationContext<Place & Principal & Stores>, input) =>
    describeSchedule(app, await findSchedule(app, input.id)),
});

const showChange =
  (verb: string) =>
  ({ schedule_id, enabled, next_fire_times: next }: ScheduleDescription): Shown => {
    const more = enabled ? `Next: ${next[0] ?? "never"}` : `Fire it again: pawl schedules resume ${schedule_id}`;
    return { told: [`${verb} ${schedule_id}. ${more}`] };
  };

export const changeSchedule = defineOperation({
  id: "changeSchedule",
  summary: "Change, pause or resume a schedule",
  scope: "write",
  effect: { does: "writes", again: true },
  input: z
    .strictObject({
      id,
      ...settingsShape,
    })
    .refine((given) => given.cron === undefined || given.cron_expression === undefined, {
      message: "`cron` and `cron_expression` are two names of the same: send one",
    })
    .refine(hasOneInput, ONE_INPUT)
    .meta({ id: "ScheduleChange" }),
  output: scheduleSchema,
  errors: ["SCHEDULE_NOT_FOUND", "SCHEDULE_DEFINED", "SCHEDULE_CONFLICT", "CRON_INVALID", "TIMEZONE_INVALID"],
  http: { method: "PATCH", path: "/schedules/{id}" },
  cli: [
    {
      verb: "schedules change",
      summary: "change what is given of a schedule",
      args: ["id"],
      options: OPTIONS,
      parts: NOTIFY_OPTIONS,
      show: showChange("Changed"),
    },
    {
      verb: "schedules pause",
      summary: "fire it no more until it is resumed",
      args: ["id"],
      fixed: { enabled: false },
      options: "none",
      show: showChange("Paused"),
    },
    {
      verb: "schedules resume",
      summary: "fire it again, from the next slot on",
      args: ["id"],
      fixed: { enabled: true },
      options: "none",
      show: showChange("Resumed"),
    },
  ],
  mcp: {
    tool: "update_schedule",
    isRare: true,
    title: "Change a schedule",
    description: "Changes what is given; `enabled: false` pauses it.",
    names: { id: "schedule_id" },
    without: ["cron", "input"],
  },
  async handle({ app }: OperationContext<StartPorts>, given) {
    const { id: whole } = await findSchedule(app, given.id);
    return change(app, whole, toSettings(given));
  },
});

export const removeSchedule = defineOperation({
  id: "removeSchedule",
  summary: "Remove a schedule; its runs stay",
  scope: "write",
  effect: "destroys",
  input: z.strictObject({ id }),
  output: z.object({ schedule_id: z.string() }),
  errors: ["SCHEDULE_NOT_FOUND", "SCHEDULE_DEFINED"],
  http: { method: "DELETE", path: "/schedules/{id}" },
  cli: {
    verb: "schedules rm",
    args: ["id"],
    show: ({ schedule_id }) => ({ told: [`Removed ${schedule_id}. Its runs stay.`] }),
  },
  mcp: {
    tool: "delete_schedule",
    title: "Delete a schedule",
    description: "Removes a schedule. Its runs stay.",
    names: { id: "schedule_id" },
  },
  handle: async ({ app }: OperationContext<Place & Principal & Stores>, input) => ({
    schedule_id: await remove(app, input.id),
  }),
});

export const runSchedule = defineOperation({
  id: "runSchedule",
  summary: "Start a run of a schedule now, beside its slots",
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: z.strictObject({ id, idempotency_key: idempotencyKey }),
  output: acceptedRunSchema,
  errors: ["SCHEDULE_NOT_FOUND"],
  http: { method: "POST", path: "/schedules/{id}/run", status: 202 },
  cli: {
    verb: "schedules run",
    args: ["id"],
    options: { idempotency_key: false },
    show: ({ run_id }) => ({ data: run_id, told: [`The run is under way. See it with: pawl runs show ${run_id}`] }),
  },
  mcp: { tool: "run_schedule", isRare: true, title: "Run a schedule now", names: { id: "schedule_id" } },
  async handle({ app, submissions, traceParent }, { id, idempotency_key: idempotencyKey }) {
    const request = toScheduleRequest(app, (await findSchedule(app, id)).id);
    return describeSubmitted(await submissions.start(app, { ...request, idempotencyKey, traceParent }));
  },
});

export const listScheduleSlots = defineOperation({
  id: "listScheduleSlots",
  summary: "Tell what became of a schedule's slots, newest first",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ id, ...pageQuery, ...offsetQuery }),
  output: listOf(slotSchema),
  errors: ["SCHEDULE_NOT_FOUND"],
  http: { method: "GET", path: "/schedules/{id}/slots" },
  cli: {
    verb: "schedules slots",
    args: ["id"],
    table: {
      empty: "None of its slots has passed.",
      columns: (slot) => ({
        SLOT: slot.last_slot === null ? slot.slot : `${slot.slot} to ${slot.last_slot} (${slot.count})`,
        STATE: slot.state,
        WHY: [slot.reason, slot.message].filter((part) => part !== null).join(": "),
        RUN: { id: slot.run_id },
      }),
    },
  },
  mcp: {
    tool: "list_schedule_slots",
    isRare: true,
    title: "List what became of a schedule's slots",
    names: { id: "schedule_id" },
    description: "What became of the slots of a schedule, newest first: started with which run, or skipped and why.",
  },
  handle: async ({ app }: OperationContext<Place & Principal & Stores>, { id: given, ...page }) =>
    listSlots(app, given, page),
  count: ({ app }: OperationContext<Place & Principal & Stores>, input) => countScheduleSlots(app, input.id),
});
