import type { Expr } from "../../../core/expressions/expr.ts";
import type { Flow, Graph, MachineFlow, Step } from "../../../core/graph/graph.ts";
import { toRunLimits } from "../../run-limits.ts";
import type { Level } from "../shape/step-shape.ts";
import type { ReadWorkflow } from "../shape/workflow-shape.ts";
import type { LowerContext } from "./lower-context.ts";
import { lowerFlow } from "./lower-flow.ts";

/** Turns a workflow into the graph that runs. What is wrong between steps and in expressions is reported on the way. */
export function lowerWorkflow(workflow: ReadWorkflow, level: Level, context: LowerContext): Graph | undefined {
  const { name, description, trigger, inputSchema, maxCostUsd, timeout: timeoutMs, deadLetter } = workflow;
  const flow = lowerFlow(level, context);
  if (flow === undefined) return undefined;
  return {
    format: 1,
    dialect: "uhlp",
    name: context.workflowId,
    description: description?.value || name?.value || undefined,
    input: { declared: [], defaults: {}, schema: inputSchema },
    flow: context.readsLastError ? keepLastError(flow) : flow,
    limits: { ...toRunLimits(workflow.limits, maxCostUsd), ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    ending: { deadLetter },
    trigger,
    envAllowed: [],
    settings: {},
  };
}

/** `workflow.lastError`: every step that fails leaves its failure behind. Only where it is read: flows pay for it. */
function keepLastError(flow: MachineFlow): MachineFlow {
  return { ...flow, variables: { lastError: null }, steps: flow.steps.map(noteFailure) };
}

const FAILURE: Expr = { op: "path", root: "failure", path: [] };

function noteFailure(step: Step): Step {
  const inside = {
    ...(step.kind === "flow" ? { flow: noteFailures(step.flow) } : {}),
    ...(step.catch === undefined ? {} : { catch: noteFailures(step.catch) }),
    ...(step.finally === undefined ? {} : { finally: noteFailures(step.finally) }),
  };
  const canFail = step.kind !== "set" && step.kind !== "respond";
  return { ...step, ...inside, ...(canFail ? { assign: { ...step.assign, lastError: FAILURE } } : {}) } as Step;
}

function noteFailures(flow: Flow): Flow {
  return { ...flow, steps: flow.steps.map(noteFailure) } as Flow;
}
