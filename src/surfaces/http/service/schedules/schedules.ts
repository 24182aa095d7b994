import { z } from "zod";
import { changeSchedule } from "../../../../operations/schedules/change-schedule.ts";
import { createSchedule } from "../../../../operations/schedules/create-schedule.ts";
import {
  countScheduleSlots,
  listScheduleSlots,
  listSchedules,
  showSchedule,
} from "../../../../operations/schedules/list-schedules.ts";
import { removeSchedule } from "../../../../operations/schedules/remove-schedule.ts";
import { runScheduleNow } from "../../../../operations/schedules/run-schedule.ts";
import { withTrace } from "../../../../operations/start/with-trace.ts";
import { defineEndpoint } from "../endpoint.ts";
import { numberedQuery, pageByNumber } from "../page-by-number.ts";
import { listOf, pageQuery } from "../schemas/common.ts";
import { acceptedRunSchema } from "../schemas/run.ts";
import {
  newScheduleSchema,
  type ScheduleFields,
  scheduleChangeSchema,
  scheduleSchema,
  slotSchema,
} from "../schemas/schedule.ts";

const params = z.object({ id: z.string().min(1) });

export const createScheduleEndpoint = defineEndpoint({
  method: "POST",
  path: "/schedules",
  id: "createSchedule",
  summary: "Start a workflow by the clock from now on",
  tag: "schedules",
  scope: "write",
  body: newScheduleSchema,
  answer: scheduleSchema,
  status: 201,
  async handle({ app, body }) {
    const { workflow, workflow_name: name = "", cron, cron_expression: expression = "", notify } = body;
    const { notify: _, ...given } = toGiven(body);
    const data = await createSchedule(app, {
      ...given,
      workflow: workflow ?? name,
      cron: cron ?? expression,
      ...(notify === undefined || notify === null ? {} : { notify }),
    });
    return { data };
  },
});

export const listSchedulesEndpoint = defineEndpoint({
  method: "GET",
  path: "/schedules",
  id: "listSchedules",
  summary: "List the schedules",
  tag: "schedules",
  scope: "read",
  query: z.strictObject(numberedQuery),
  answer: listOf(scheduleSchema),
  async handle({ app, query }) {
    return pageByNumber(await listSchedules(app), query);
  },
});

export const getScheduleEndpoint = defineEndpoint({
  method: "GET",
  path: "/schedules/{id}",
  id: "getSchedule",
  summary: "Show a schedule and its next five times",
  tag: "schedules",
  scope: "read",
  params,
  answer: scheduleSchema,
  handle: async ({ app, params: { id } }) => ({ data: await showSchedule(app, id) }),
});

export const changeScheduleEndpoint = defineEndpoint({
  method: "PATCH",
  path: "/schedules/{id}",
  id: "changeSchedule",
  summary: "Change, pause or resume a schedule",
  tag: "schedules",
  scope: "write",
  params,
  body: scheduleChangeSchema,
  answer: scheduleSchema,
  handle: async ({ app, params: { id }, body }) => ({ data: await changeSchedule(app, id, toGiven(body)) }),
});

export const removeScheduleEndpoint = defineEndpoint({
  method: "DELETE",
  path: "/schedules/{id}",
  id: "removeSchedule",
  summary: "Remove a schedule; its runs stay",
  tag: "schedules",
  scope: "write",
  params,
  answer: z.object({ schedule_id: z.string() }),
  async handle({ app, params: { id } }) {
    await removeSchedule(app, id);
    return { data: { schedule_id: id } };
  },
});

export const runScheduleEndpoint = defineEndpoint({
  method: "POST",
  path: "/schedules/{id}/run",
  id: "runSchedule",
  summary: "Start a run of a schedule now",
  tag: "schedules",
  scope: "run",
  params,
  answer: acceptedRunSchema,
  status: 202,
  async handle({ app, parts, params: { id }, c }) {
    const runId = await runScheduleNow(app, id, (prepared) =>
      parts.runner.start(withTrace(prepared, c.req.header("traceparent"))),
    );
    c.set("runId", runId);
    return { data: { run_id: runId, status: "queued" as const } };
  },
});

export const listSlotsEndpoint = defineEndpoint({
  method: "GET",
  path: "/schedules/{id}/slots",
  id: "listScheduleSlots",
  summary: "Tell what became of a schedule's slots, newest first",
  tag: "schedules",
  scope: "read",
  params,
  query: z.object({ ...pageQuery, offset: z.coerce.number().int().min(0).max(1_000_000).optional() }),
  answer: listOf(slotSchema),
  async handle({ app, params: { id }, query }) {
    const { limit, cursor, offset } = query;
    const { items, nextCursor } = await listScheduleSlots(app, id, { limit, cursor, offset });
    const countAll = async () => ({ total: await countScheduleSlots(app, id), limit, offset: offset ?? 0 });
    return { data: { items, next_cursor: nextCursor }, countAll };
  },
});

function toGiven(body: ScheduleFields) {
  const { cron, cron_expression: expression, timezone, input, input_data: inputData, notify } = body;
  const { enabled, overlap, catch_up: catchUp, jitter_seconds: jitterSeconds } = body;
  const givenCron = cron ?? expression;
  const givenInput = input ?? inputData;
  return { cron: givenCron, timezone, input: givenInput, notify, enabled, overlap, catchUp, jitterSeconds };
}
