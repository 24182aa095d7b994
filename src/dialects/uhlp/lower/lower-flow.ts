import type { MachineFlow, Step } from "../../../core/graph/graph.ts";
import type { Level, StepDefinition } from "../shape/step-shape.ts";
import { type FlowPlan, planBlock, planLevel } from "./flow-plan.ts";
import { type FlowScope, isTooLarge, type LowerContext } from "./lower-context.ts";
import { lowerStep } from "./lower-step.ts";
import { lowerTransitions } from "./lower-transitions.ts";
import type { PlanBlock } from "./plan-block.ts";
import { reportLongWay } from "./report-long-way.ts";

/** The flow of the whole workflow. Undefined where it has no beginning, which is reported. */
export function lowerFlow(level: Level, context: LowerContext): MachineFlow | undefined {
  const plan = planLevel(level, [], context);
  const scope: FlowScope = {
    level,
    visible: new Set(),
    locals: new Map(),
    allowsError: false,
    owners: [],
    fanOuts: new Set(),
  };
  return plan && lowerPlan(plan, scope, context);
}

/** `around`: what the control step around sees. */
function lowerPlan(plan: FlowPlan, around: FlowScope, context: LowerContext): MachineFlow {
  const { level, owners, members, start } = plan;
  const scope: FlowScope = { ...around, level, owners, visible: new Set([...around.visible, ...members.keys()]) };
  reportLongWay(plan, context);
  const steps = [...members.values()].flatMap((step) => lowerMember(step, plan, scope, context) ?? []);
  return { kind: "machine", start, maxVisits: context.maxSteps, steps };
}

function lowerMember(step: StepDefinition, plan: FlowPlan, scope: FlowScope, context: LowerContext): Step | undefined {
  context.stepCount += 1;
  if (isTooLarge(context, step.at)) return undefined;
  const lowered = lowerStep(step, { flow: scope, context }, blockPlanner(context));
  return { ...lowered, ...lowerTransitions(step, plan, scope, context) };
}

function blockPlanner(context: LowerContext): PlanBlock {
  return (block, owner, scope) => {
    if (isTooLarge(context, owner.at) || isTooDeep(owner, scope, context)) return undefined;
    const plan = planBlock(block, scope.level, [...scope.owners, owner], context);
    if (plan === undefined) return undefined;
    const [only, ...others] = plan.members.keys();
    return {
      onlyId: others.length === 0 ? only : undefined,
      lower: (inner) => lowerPlan(plan, { ...scope, ...inner }, context),
    };
  };
}

/** The core nests flows 50 deep, and a block takes up to three of them. */
const MAX_DEPTH = 16;

function isTooDeep({ at }: StepDefinition, { owners }: FlowScope, { problems }: LowerContext): boolean {
  if (owners.length < MAX_DEPTH) return false;
  const message = `Blocks are nested more than ${MAX_DEPTH} deep.`;
  problems.error({ code: "NOT_SUPPORTED", at, message, remedy: "Call another workflow with `subworkflow`." });
  return true;
}
