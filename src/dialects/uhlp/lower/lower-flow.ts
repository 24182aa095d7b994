import type { MachineFlow, Step } from "../../../core/graph/graph.ts";
import { type Level, type StepDefinition, subtypeOf } from "../shape/step-shape.ts";
import { type FlowPlan, type PlanBlock, planBlock, planLevel } from "./flow-plan.ts";
import { type FlowScope, isTooLarge, type LowerContext } from "./lower-context.ts";
import { lowerStep } from "./lower-step.ts";
import { lowerTransitions } from "./lower-transitions.ts";

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
    const ids = [...plan.members.keys()];
    const [only, ...others] = ids;
    return {
      ids,
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

/** Warns of a flow in which no run that goes well can come to an end within `maxSteps`. */
function reportLongWay(plan: FlowPlan, { maxSteps, problems }: LowerContext): void {
  const start = plan.members.get(plan.start);
  // A step that cannot be read may lead anywhere. A `maxSteps` below 1 has been reported.
  if (start === undefined || maxSteps < 1 || [...plan.members.values()].some(({ isFaulty }) => isFaulty)) return;
  const count = countSteps(start, plan);
  if (count === undefined || count <= maxSteps) return;
  const message = `Where no step fails, it takes at least ${count} steps from \`${start.id}\` to an end; \`maxSteps\` is ${maxSteps}.`;
  const remedy = `Set \`maxSteps\` of the workflow to ${count} or more.`;
  problems.warning({ code: "MAX_VISITS", at: start.at, message, remedy });
}

/** On the shortest way on which no step fails. Undefined: there is none. */
function countSteps(start: StepDefinition, plan: FlowPlan): number | undefined {
  const seen = new Set([start]);
  let visited: readonly StepDefinition[] = [start];
  for (let count = 1; visited.length > 0; count += 1) {
    if (visited.some((step) => canEnd(step, plan))) return count;
    const next = visited.flatMap((step) => nextOf(step, plan)).filter((step) => !seen.has(step));
    for (const step of next) seen.add(step);
    visited = [...new Set(next)];
  }
  return undefined;
}

/** In a block: back at the step around, or without a word about its success. What leads nowhere has been reported. */
function canEnd(step: StepDefinition, { members, owners }: FlowPlan): boolean {
  const ways = waysOf(step);
  if (subtypeOf(step.body) === "formatResponse" || (ways.length === 0 && owners.length > 0)) return true;
  return ways.some(({ to }) => to === "end" || !members.has(to.value));
}

function nextOf(step: StepDefinition, { members }: FlowPlan): readonly StepDefinition[] {
  return waysOf(step).flatMap(({ to }) => (to === "end" ? [] : (members.get(to.value) ?? [])));
}

function waysOf({ transitions }: StepDefinition) {
  return transitions.filter(({ on }) => on !== "failure");
}
