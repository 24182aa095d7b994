import type { View } from "../../../../operations/operation.ts";
import type { PageOptions } from "../text/page-options.ts";

/** Draws the output of an operation. */
type Render = (output: never, options: PageOptions) => string;

/** Pictures that columns cannot describe. Each is loaded when it is shown. */
export const VIEWS: Readonly<Record<View, () => Promise<Render>>> = {
  agent: async () => (await import("./render-agent.ts")).renderAgent,
  approvals: async () => (await import("./render-approvals.ts")).renderApprovals,
  comparison: async () => (await import("./render-comparison.ts")).renderComparison,
  costs: async () => (await import("./render-costs.ts")).renderCosts,
  "dead-letters": async () => (await import("./render-dead-letters.ts")).renderDeadLetters,
  run: async () => (await import("./render-run.ts")).renderRun,
  violations: async () => (await import("./render-violations.ts")).renderViolations,
  workflows: async () => (await import("./render-workflows.ts")).renderWorkflows,
  webhook: async () => (await import("./render-webhook.ts")).renderWebhook,
};
