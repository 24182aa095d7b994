import { z } from "zod";
import { describeRun } from "../../../../operations/runs/describe-run.ts";
import { findRun } from "../../../../operations/runs/find-run.ts";
import { countRuns, listRuns } from "../../../../operations/runs/list-runs.ts";
import { runSchema, runStatusSchema, runSummarySchema } from "../../../../operations/runs/run-schemas.ts";
import { givenTimeSchema, listOf, offsetQuery, pageQuery } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";

const statusList = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().flatMap((each) => each.split(",")))
  .pipe(z.array(z.enum([...runStatusSchema.options, "retrying"])))
  .describe(
    "Only runs with one of these; separated by commas, or given more than once. `retrying`: running, with a step that failed and will be tried again.",
  );

/** `GET /runs`: newest first. */
export const listRunsEndpoint = defineEndpoint({
  method: "GET",
  path: "/runs",
  id: "listRuns",
  summary: "List runs, newest first",
  tag: "runs",
  scope: "read",
  query: z.strictObject({
    ...pageQuery,
    ...offsetQuery,
    status: statusList.optional(),
    workflow: z.string().min(1).optional(),
    since: givenTimeSchema.optional().describe("Created then or later."),
    until: givenTimeSchema.optional().describe("Created before."),
    q: z.string().min(1).max(200).optional().describe("Stands in the workflow's name, the id or the error."),
  }),
  answer: listOf(runSummarySchema),
  async handle({ app, query }) {
    const { limit, cursor, offset, status, workflow, since, until, q } = query;
    const filter = { status, workflow, createdFrom: since, text: q, createdBefore: until };
    const page = await listRuns(app, { ...filter, limit, cursor, offset });
    const countAll = async () => ({ total: await countRuns(app, filter), limit, offset: offset ?? 0 });
    return { data: page, countAll };
  },
});

/** `GET /runs/{id}`: the beginning of an id is enough where it fits one run only. */
export const getRun = defineEndpoint({
  method: "GET",
  path: "/runs/{id}",
  id: "getRun",
  summary: "Show a run and its steps",
  tag: "runs",
  scope: "read",
  params: z.object({ id: z.string().min(1) }),
  query: z.strictObject({
    outputs: z.stringbool().default(true).describe("Load the outputs of the run and of its steps."),
    prompts: z.stringbool().default(true).describe("Load what each step was asked."),
  }),
  answer: runSchema,
  async handle({ app, params, query, c }) {
    const record = await findRun(app, params.id);
    c.set("runId", record.id);
    const options = { withOutputs: query.outputs, withPrompts: query.prompts };
    return { data: await describeRun(await app.records(), record, options) };
  },
});
