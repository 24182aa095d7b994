import { type StepDefinition, subtypeOf } from "../shape/step-shape.ts";
import type { FlowPlan } from "./flow-plan.ts";
import type { LowerContext } from "./lower-context.ts";

/** Warns of a flow in which no run that goes well can come to an end within `maxSteps`. */
export function reportLongWay(plan: FlowPlan, { maxSteps, problems }: LowerContext): void {
  const start = plan.members.get(plan.start);
  // Of what cannot be read nobody knows where it leads; that no step at all is allowed has been reported.
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
