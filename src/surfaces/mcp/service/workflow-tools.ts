import { z } from "zod";
import { planRun } from "../../../operations/plan/plan-run.ts";
import { toStartable } from "../../../operations/start/prepare-submission.ts";
import { inputArgument, workflowNameArgument } from "./arguments.ts";
import { defineServiceTool, type ServiceTool } from "./service-tool.ts";

const reads = { readOnly: true, destructive: false, idempotent: true, openWorld: false };

export const WORKFLOW_TOOLS: readonly ServiceTool[] = [
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
];
