import type { Ending, Graph } from "../../../core/graph/graph.ts";
import type { SourceText } from "../../source/source-text.ts";
import { computeItemDomains, declaredNames } from "../items.ts";
import type { Workflow } from "../parse.ts";
import type { StepGraph } from "../step-graph.ts";
import { lowerExports } from "./lower-exports.ts";
import { lowerTemplate } from "./lower-expr.ts";
import { lowerStep } from "./lower-step.ts";

/** Turns a workflow without errors into the graph that runs. */
export function lowerWorkflow(workflow: Workflow, steps: StepGraph, source: SourceText): Graph {
  const declared = declaredNames(workflow);
  const { domainOf } = computeItemDomains(steps.order, declared);
  const context = { workflow, source, declared, domainOf };
  return {
    format: 1,
    dialect: "sandcastle",
    name: workflow.name,
    description: workflow.description,
    input: workflow.input,
    flow: {
      kind: "dag",
      steps: workflow.steps.flatMap((step) => [lowerStep(step, context), ...lowerExports(step, context)]),
    },
    limits: workflow.limits,
    ending: lowerEnding(workflow, declared),
    schedule: workflow.schedule,
    envAllowed: workflow.envAllowed,
    settings: workflow.sandstormUrl === undefined ? {} : { sandstorm_url: workflow.sandstormUrl },
  };
}

function lowerEnding(workflow: Workflow, declared: ReadonlySet<string>): Ending {
  const { storagePath, completionWebhook, failureWebhook, approvalWebhook, deadLetter } = workflow;
  return {
    ...(storagePath === undefined ? {} : { storagePath: lowerTemplate(storagePath, { declared, perItem: false }) }),
    completionWebhook,
    failureWebhook,
    approvalWebhook,
    deadLetter,
  };
}
