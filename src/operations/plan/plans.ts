import type { StartPorts } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { toStartable } from "../start/prepare-submission.ts";
import { planRun as plan } from "./plan-run.ts";
import { planRequestSchema, planSchema } from "./plan-schemas.ts";

export const planRun = defineOperation({
  id: "planRun",
  summary: "What a run would cost at worst",
  scope: "run",
  effect: "reads",
  input: planRequestSchema,
  output: planSchema,
  errors: ["WORKFLOW_NOT_FOUND", "DEFINITION_INVALID", "DEFINITION_TOO_COSTLY", "INPUT_INVALID"],
  http: { method: "POST", path: "/workflows/plan" },
  // A file of this machine, with those that it names.
  cli: { byHand: ["plan"] },
  mcp: {
    tool: "plan_workflow",
    title: "Plan a run",
    description: "What a run would cost at worst. Runs nothing and asks no model. Unknown prices are null, never 0.",
    names: { workflow: "workflow_name", input: "input_data" },
    without: ["part", "agent", "assume"],
  },
  async handle(
    { app }: OperationContext<StartPorts>,
    { workflow, part, input = {}, agent, max_cost_usd: maxCostUsd, assume },
  ) {
    return plan(app, await toStartable(app, { workflow, input, part }), {
      folder: app.appDir,
      agent,
      maxCostUsd,
      assume,
    });
  },
});
