import { z } from "zod";
import { listViolations, VIOLATION_CURSOR } from "../../../../operations/runs/list-violations.ts";
import { givenTimeSchema, listOf, pageQuery, timeSchema } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";

const actionSchema = z.enum(["redact", "block", "approve", "alert"]);

const violationSchema = z
  .object({
    run_id: z.string(),
    workflow_name: z.string(),
    tenant_id: z.string().nullable(),
    path: z.string(),
    seq: z.number().int().describe("Number of the event in the run; with `run_id` it names the outcome for ever."),
    policy: z.string(),
    action: actionSchema,
    found: z.record(z.string(), z.number()).describe("How often, by kind. What was found is never told."),
    why: z.string(),
    at: timeSchema,
  })
  .meta({ id: "RecordedViolation", description: "What a policy had to say about a step's output." });

export const listViolationsEndpoint = defineEndpoint({
  method: "GET",
  path: "/violations",
  id: "listViolations",
  summary: "List what policies had to say, over all runs, newest first",
  tag: "runs",
  scope: "read",
  query: z.strictObject({
    ...pageQuery,
    cursor: z.string().regex(VIOLATION_CURSOR, "is no cursor").optional().describe("`next_cursor` of the page before."),
    run: z.string().min(1).max(100).optional().describe("A run's id, or the beginning of one."),
    workflow: z.string().min(1).optional(),
    policy: z.string().min(1).optional(),
    action: actionSchema.optional(),
    since: givenTimeSchema.optional().describe("Judged then or later."),
    until: givenTimeSchema.optional().describe("Judged before."),
  }),
  answer: listOf(violationSchema),
  async handle({ app, query }) {
    const { since: from, until: before, ...wanted } = query;
    return { data: await listViolations(app, { ...wanted, from, before }) };
  },
});
