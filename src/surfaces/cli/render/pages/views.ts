import type { View } from "../../../../operations/operation.ts";
import type { PageOptions } from "../text/paint.ts";
import { renderApprovals, renderDeadLetters, renderViolations } from "./paragraphs.ts";
import { renderComparison } from "./render-comparison.ts";
import { renderRun } from "./render-run.ts";
import { renderAgent, renderCosts, renderWebhook, renderWorkflows } from "./tables.ts";

/** Draws the output of an operation. */
type Render = (output: never, options: PageOptions) => string;

/** Pictures that columns cannot describe. */
export const VIEWS: Readonly<Record<View, Render>> = {
  agent: renderAgent,
  approvals: renderApprovals,
  comparison: renderComparison,
  costs: renderCosts,
  "dead-letters": renderDeadLetters,
  run: renderRun,
  violations: renderViolations,
  workflows: renderWorkflows,
  webhook: renderWebhook,
};
