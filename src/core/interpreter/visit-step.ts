import type { Scope } from "../history/run-state.ts";
import { failScope } from "./fail-scope.ts";
import { newStepState } from "./open-scope.ts";
import { openStep } from "./open-step.ts";
import type { Turn } from "./turn.ts";

const DEFAULT_MAX_VISITS = 100_000;

/** A machine goes to a step. Only the latest visit of each step stays in memory. */
export function visitStep(turn: Turn, scope: Scope, step: number): void {
  if (scope.phase !== "open") return;
  const limit = visitLimitReached(turn, scope);
  if (limit !== undefined) {
    const id = scope.flow.steps[step]?.step.id ?? "";
    const message = `${limit} steps were visited; the next would be "${id}". Visited most: ${mostVisited(scope)}.`;
    failScope(turn, scope, { code: "MAX_VISITS", message, seq: 0 });
    return;
  }
  turn.state.visits += 1;
  scope.visits += 1;
  const prior = scope.steps[step];
  if (prior !== undefined) prior.prior = undefined;
  scope.steps[step] = newStepState((prior?.visit ?? 0) + 1, prior);
  openStep(turn, scope, step);
}

function visitLimitReached(turn: Turn, scope: Scope): number | undefined {
  const flow = scope.flow.flow;
  const own = flow.kind === "machine" ? flow.maxVisits : undefined;
  if (own !== undefined && scope.visits >= own) return own;
  const all = turn.state.graph.graph.limits.maxVisits ?? DEFAULT_MAX_VISITS;
  return turn.state.visits >= all ? all : undefined;
}

function mostVisited(scope: Scope): string {
  const visits = scope.flow.steps.map(({ step, index }) => ({ id: step.id, count: scope.steps[index]?.visit ?? 0 }));
  visits.sort((a, b) => b.count - a.count);
  return visits
    .slice(0, 3)
    .filter(({ count }) => count > 0)
    .map(({ id, count }) => `"${id}" ${count} times`)
    .join(", ");
}
