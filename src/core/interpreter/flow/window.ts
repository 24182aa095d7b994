import { SINGLE } from "../../graph/shape.ts";
import type { Instance, Question, Scope } from "../../history/run-state.ts";
import { Queue } from "../../queue.ts";
import type { Turn } from "../turn.ts";

/**
 * The window of a fan-out: how many of its items may be under way at once. An item that waits for a person holds no
 * place, or a few unanswered questions would keep all others from beginning; with its answer it takes the next
 * place that is free.
 */
export function hasPlace(scope: Scope, step: number): boolean {
  const state = scope.steps[step];
  return state !== undefined && state.running - state.asking < windowOf(scope, step);
}

/** A place may have become free. Instances with an answer go before items that have not begun. */
export function fillPlace(turn: Turn, scope: Scope, step: number): void {
  const state = scope.steps[step];
  if (state === undefined || !hasPlace(scope, step)) return;
  for (let instance = state.answered?.shift(); instance !== undefined; instance = state.answered?.shift()) {
    // It may have ended meanwhile.
    if (instance.phase !== "answered" || instance.question === undefined) continue;
    takePlace(instance);
    turn.work.push({ type: "redispatch", instance });
    return;
  }
  const item = state.queue?.shift();
  if (item !== undefined) turn.work.push({ type: "startItems", scope, step, from: item, to: item + 1 });
}

/** The task waits for a person, and another item may have its place. */
export function leavePlace(turn: Turn, instance: Instance, question: Question): void {
  const { scope, step } = instance;
  const state = scope.steps[step.index];
  if (state === undefined) return;
  instance.question = question;
  state.asking += 1;
  fillPlace(turn, scope, step.index);
}

/** The question is answered: the task goes on, at once or when a place is free. */
export function returnToPlace(turn: Turn, instance: Instance): void {
  const { scope, step } = instance;
  instance.phase = "answered";
  if (hasPlace(scope, step.index)) {
    takePlace(instance);
    turn.work.push({ type: "redispatch", instance });
    return;
  }
  const state = scope.steps[step.index];
  if (state === undefined) return;
  state.answered ??= new Queue();
  state.answered.push(instance);
}

/** The instance counts as running again, even if only to end. No effect on one that has not asked. */
export function takePlace(instance: Instance): void {
  const state = instance.scope.steps[instance.step.index];
  if (state === undefined || instance.question === undefined) return;
  instance.question = undefined;
  state.asking -= 1;
}

function windowOf(scope: Scope, step: number): number {
  const isMachine = scope.flow.flow.kind === "machine";
  const origin = isMachine ? step : (scope.shape[step] ?? SINGLE);
  return scope.flow.steps[origin]?.step.each?.maxConcurrent ?? Number.POSITIVE_INFINITY;
}
