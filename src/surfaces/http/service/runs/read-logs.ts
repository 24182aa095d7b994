import { z } from "zod";
import { pageRunLogs } from "../../../../operations/runs/page-run-logs.ts";
import { jsonSchema, listOf, timeSchema } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";

const logSchema = z
  .object({
    path: z.string(),
    attempt: z.number().int(),
    logged_at: timeSchema,
    events: z.array(jsonSchema).describe("For an agent its messages, as they came."),
  })
  .meta({ id: "StepLog", description: "What was said during one attempt." });

/** `GET /runs/{id}/logs`: of attempts that have ended; the stream tells those that go on. */
export const readRunLogsEndpoint = defineEndpoint({
  method: "GET",
  path: "/runs/{id}/logs",
  id: "readRunLogs",
  summary: "What agents said, attempt by attempt, oldest first",
  tag: "runs",
  scope: "read",
  params: z.object({ id: z.string().min(1) }),
  query: z.strictObject({
    step: z.string().min(1).max(2_000).optional().describe("A step's id, or the path of one instance."),
    limit: z.coerce.number().int().min(1).max(50).default(10),
    cursor: z
      .string()
      .regex(/^\d{1,9}$/)
      .optional()
      .describe("`next_cursor` of the page before."),
  }),
  answer: listOf(logSchema),
  async handle({ app, params, query }) {
    const { step, limit, cursor } = query;
    const page = await pageRunLogs(app, params.id, { limit, step, cursor });
    return { data: page };
  },
});
