import { z } from "zod";
import { findDeadLetter } from "../../../../operations/dead-letters/find-dead-letter.ts";
import { countDeadLetters, listDeadLetters } from "../../../../operations/dead-letters/list-dead-letters.ts";
import { resolveDeadLetter } from "../../../../operations/dead-letters/resolve-dead-letter.ts";
import { prepareDeadLetterRetry } from "../../../../operations/dead-letters/retry-dead-letter.ts";
import { acceptedRunSchema } from "../../../../operations/runs/run-schemas.ts";
import { listOf, offsetQuery, pageQuery, timeSchema } from "../../../../operations/schemas.ts";
import { withTrace } from "../../../../operations/start/with-trace.ts";
import { defineEndpoint } from "../endpoint.ts";

const statusSchema = z.enum(["open", "retried", "resolved"]);

const deadLetterSchema = z
  .object({
    dead_letter_id: z.string().describe("`RUN:PATH`."),
    run_id: z.string(),
    workflow_name: z.string(),
    path: z.string(),
    code: z.string(),
    message: z.string(),
    failed_at: timeSchema,
    status: statusSchema.describe("What was done about it. The run stays as it ended."),
    closed_at: timeSchema.nullable(),
    note: z.string().nullable(),
    retried_as: z.string().nullable().describe("The run that repeats from there."),
  })
  .meta({ id: "DeadLetter", description: "A step that has failed for good." });

const byId = z.object({ id: z.string().min(1).describe("A `dead_letter_id`.") });

export const listDeadLettersEndpoint = defineEndpoint({
  method: "GET",
  path: "/dead-letter",
  id: "listDeadLetters",
  summary: "List the steps that have failed for good, oldest first",
  tag: "dead letters",
  scope: "read",
  query: z.strictObject({
    ...pageQuery,
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, "is no cursor")
      .optional()
      .describe("`next_cursor` of the page before."),
    ...offsetQuery,
    status: statusSchema.optional(),
    workflow: z.string().min(1).optional(),
  }),
  answer: listOf(deadLetterSchema),
  async handle({ app, query }) {
    const { limit, cursor, offset = 0, status, workflow } = query;
    const wanted = { status, workflow };
    const data = await listDeadLetters(app, { ...wanted, limit, offset, cursor });
    return { data, countAll: async () => ({ total: await countDeadLetters(app, wanted), limit, offset }) };
  },
});

export const getDeadLetter = defineEndpoint({
  method: "GET",
  path: "/dead-letter/{id}",
  id: "getDeadLetter",
  summary: "Show one dead letter",
  tag: "dead letters",
  scope: "read",
  params: byId,
  answer: deadLetterSchema,
  async handle({ app, params }) {
    return { data: (await findDeadLetter(app, params.id)).letter };
  },
});

/** `POST /dead-letter/{id}/retry`: a rerun from the step that has failed. */
export const retryDeadLetter = defineEndpoint({
  method: "POST",
  path: "/dead-letter/{id}/retry",
  id: "retryDeadLetter",
  summary: "Do the run again from the step that has failed",
  tag: "dead letters",
  scope: "run",
  params: byId,
  answer: acceptedRunSchema,
  status: 202,
  async handle({ app, parts, params, c }) {
    const retry = await prepareDeadLetterRetry(app, params.id);
    const { start } = retry.prepared;
    await retry.begin(() => parts.runner.start(withTrace(start, c.req.header("traceparent"))));
    c.set("runId", start.runId);
    return { data: { run_id: start.runId, status: "queued" as const } };
  },
});

export const resolveDeadLetterEndpoint = defineEndpoint({
  method: "POST",
  path: "/dead-letter/{id}/resolve",
  id: "resolveDeadLetter",
  summary: "Note that nothing more is to be done",
  tag: "dead letters",
  scope: "run",
  params: byId,
  body: z.strictObject({ note: z.string().max(10_000).optional() }),
  answer: deadLetterSchema,
  async handle({ app, params, body }) {
    return { data: await resolveDeadLetter(app, params.id, body.note) };
  },
});
