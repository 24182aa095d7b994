import type { Scope } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";
import { failScope } from "./fail-scope.ts";
import { markLosses } from "./losses.ts";
import { newStepState } from "./open-scope.ts";
import { openStep } from "./open-step.ts";

const DEFAULT_MAX_VISITS = 100_000;

/** A machine goes to a step. Only the latest visit of each step stays in memory. */
export function visitStep(turn: Turn, scope: Scope, step: number): void {
  if (scope.phase !== "open") return;
  const limit = visitLimitReached(turn, scope);
  if (limit !== undefined) {
    failScope(turn, scope, { code: "MAX_VISITS", message: explainLimit(scope, step, limit), seq: 0 });
    return;
  }
  turn.state.visits += 1;
  scope.visits += 1;
  scope.visited = step;
  const prior = scope.steps[step];
  if (prior !== undefined) prior.prior = undefined;
  const state = newStepState((prior?.visit ?? 0) + 1, prior);
  state.lossesBefore = markLosses(turn, scope);
  scope.steps[step] = state;
  openStep(turn, scope, step);
}

function visitLimitReached(turn: Turn, scope: Scope): number | undefined {
  const flow = scope.flow.flow;
  const own = flow.kind === "machine" ? flow.maxVisits : undefined;
  if (own !== undefined && scope.visits >= own) return own;
  const all = turn.state.graph.graph.limits.maxVisits ?? DEFAULT_MAX_VISITS;
  return turn.state.visits >= all ? all : undefined;
}

function explainLimit(scope: Scope, step: number, limit: number): string {
  const { flow } = scope.flow;
  if (flow.kind === "machine" && flow.maxVisits === limit && flow.tooManyVisits !== undefined)
    return flow.tooManyVisits;
  const id = scope.flow.steps[step]?.step.id ?? "";
  return `${limit} steps were visited; the next would be "${id}". Visited most: ${mostVisited(scope)}.`;
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
