import { z } from "zod";
import { validateText } from "../../../operations/definitions/validate-text.ts";
import { planRun } from "../../../operations/plan/plan-run.ts";
import { toStartable } from "../../../operations/start/prepare-submission.ts";
import { pageWorkflows } from "../../../operations/workflows/list-workflows.ts";
import { listVersions, removeWorkflow, saveWorkflow } from "../../../operations/workflows/save-workflow.ts";
import { showWorkflow } from "../../../operations/workflows/show-workflow.ts";
import { cursorArgument, inputArgument, limitArgument, workflowNameArgument } from "./arguments.ts";
import { defineServiceTool, type ServiceTool } from "./service-tool.ts";

const reads = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
const text = z.string().min(1).max(1_000_000).describe("The definition, as YAML or JSON.");

export const WORKFLOW_TOOLS: readonly ServiceTool[] = [
  defineServiceTool({
    name: "list_workflows",
    scope: "read",
    title: "List workflows",
    description: "Workflows that can be run by their name, with the schema of their input.",
    input: z.strictObject({ limit: limitArgument, cursor: cursorArgument }),
    output: { items: z.array(z.looseObject({ name: z.string() })), next_cursor: z.string().nullable() },
    hints: reads,
    perform: async (app, { limit, cursor }) => {
      const page = await pageWorkflows(app, { limit, cursor });
      return { items: page.items, next_cursor: page.next_cursor };
    },
  }),
  defineServiceTool({
    name: "get_workflow",
    scope: "read",
    title: "Show a workflow",
    description: "The definition of a workflow, with what it does in which order.",
    input: z.strictObject({ workflow_name: workflowNameArgument, version: z.int().min(1).optional() }),
    output: { name: z.string(), text: z.string() },
    hints: reads,
    perform: (app, { workflow_name: name, version }) => showWorkflow(app, name, version),
  }),
  defineServiceTool({
    name: "validate_workflow",
    scope: "read",
    title: "Check a definition",
    description: "Every problem of a definition at once, with line and column. Nothing is saved or run.",
    input: z.strictObject({ yaml_content: text }),
    output: { valid: z.boolean() },
    hints: reads,
    perform: (app, { yaml_content: content }) => validateText(app, content),
  }),
  defineServiceTool({
    name: "plan_workflow",
    scope: "run",
    title: "Plan a run",
    description: "What a run would cost at worst. Runs nothing and asks no model. Unknown prices are null, never 0.",
    input: z.strictObject({
      workflow_name: workflowNameArgument,
      input_data: inputArgument,
      max_cost_usd: z.number().positive().max(1_000_000).optional(),
    }),
    output: { workflow: z.string() },
    hints: reads,
    perform: async (app, { workflow_name: workflow, input_data: input = {}, max_cost_usd: maxCostUsd }) => {
      const limit = maxCostUsd === undefined ? {} : { maxCostUsd };
      return planRun(app, await toStartable(app, { workflow, input }), { folder: app.appDir, ...limit });
    },
  }),
  defineServiceTool({
    name: "save_workflow",
    scope: "write",
    title: "Save a workflow",
    description:
      "Saves a definition under the name that it says, to be run by it; what had the name becomes an older version. A " +
      "definition with problems is not saved: they are told.",
    input: z.strictObject({
      name: z.string().min(1).max(200).optional().describe("Where it is given, the definition must say the same."),
      yaml_content: text,
    }),
    output: { name: z.string(), version: z.int() },
    hints: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
    perform: (app, { name, yaml_content: content }) => saveWorkflow(app, { text: content, name }),
  }),
  defineServiceTool({
    name: "list_workflow_versions",
    scope: "read",
    title: "List versions of a workflow",
    description: "The versions of a saved workflow, newest first.",
    input: z.strictObject({ workflow_name: workflowNameArgument }),
    output: { items: z.array(z.looseObject({ version: z.int() })) },
    hints: reads,
    perform: async (app, { workflow_name: name }) => ({ items: await listVersions(app, name) }),
  }),
  defineServiceTool({
    name: "delete_workflow",
    scope: "write",
    title: "Delete a saved workflow",
    description: "Removes a saved workflow with all its versions. Its runs stay.",
    input: z.strictObject({ workflow_name: workflowNameArgument }),
    output: { name: z.string() },
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    perform: async (app, { workflow_name: name }) => {
      await removeWorkflow(app, name);
      return { name };
    },
  }),
];
