import { z } from "zod";
import { validateText } from "../../../../operations/definitions/validate-text.ts";
import { listOf, offsetQuery, pageQuery } from "../../../../operations/schemas.ts";
import { pageWorkflows } from "../../../../operations/workflows/list-workflows.ts";
import { listVersions } from "../../../../operations/workflows/save-workflow.ts";
import { showWorkflow } from "../../../../operations/workflows/show-workflow.ts";
import { defineEndpoint } from "../endpoint.ts";
import { numberedQuery, pageByNumber } from "../page-by-number.ts";
import { problemsSchema, versionSchema, workflowSchema, workflowSummarySchema } from "../schemas/workflow.ts";

export const nameParams = z.object({ name: z.string().min(1) });

/** `GET /workflows`: files and saved ones, by name. */
export const listWorkflowsEndpoint = defineEndpoint({
  method: "GET",
  path: "/workflows",
  id: "listWorkflows",
  summary: "List workflows that can be started by name",
  tag: "workflows",
  scope: "read",
  query: z.strictObject({ ...pageQuery, ...offsetQuery }),
  answer: listOf(workflowSummarySchema),
  async handle({ app, query }) {
    const { limit, cursor, offset } = query;
    const { total, ...page } = await pageWorkflows(app, { limit, cursor, offset });
    return { data: page, countAll: async () => ({ total, limit, offset: offset ?? 0 }) };
  },
});

/** `GET /workflows/{name}`. */
export const getWorkflow = defineEndpoint({
  method: "GET",
  path: "/workflows/{name}",
  id: "showWorkflow",
  summary: "Show a workflow, its definition and what it does in which order",
  tag: "workflows",
  scope: "read",
  params: nameParams,
  query: z.strictObject({ version: z.coerce.number().int().min(1).optional().describe("Of a saved definition.") }),
  answer: workflowSchema,
  async handle({ app, params, query }) {
    return { data: await showWorkflow(app, params.name, query.version) };
  },
});

/** `GET /workflows/{name}/versions`: newest first. */
export const listVersionsEndpoint = defineEndpoint({
  method: "GET",
  path: "/workflows/{name}/versions",
  id: "listWorkflowVersions",
  summary: "List the versions of a saved workflow, newest first",
  tag: "workflows",
  scope: "read",
  params: nameParams,
  query: z.strictObject(numberedQuery),
  answer: listOf(versionSchema),
  async handle({ app, params, query }) {
    return pageByNumber(await listVersions(app, params.name), query);
  },
});

/** `POST /workflows/validate`: everything that is wrong, with its places. Nothing is kept. */
export const validateWorkflow = defineEndpoint({
  method: "POST",
  path: "/workflows/validate",
  id: "validateWorkflow",
  summary: "Check a definition without saving it",
  tag: "workflows",
  scope: "read",
  body: z.strictObject({ text: z.string().min(1) }),
  answer: z.object({
    valid: z.boolean(),
    problems: problemsSchema,
    workflows: z.array(z.object({ name: z.string(), dialect: z.string(), steps: z.number().int() })),
  }),
  async handle({ app, body }) {
    return { data: await validateText(app, body.text) };
  },
});
