import type { Instance, Scope } from "../../history/run-state.ts";
import { findUsedUp, isBudgetAsked } from "../budget/use-limits.ts";
import { failScope } from "../flow/losses.ts";
import type { Turn } from "../turn.ts";
import { failInstance } from "./conclude.ts";
import { forgetOldDeaths } from "./crashes.ts";

/** Dispatches a task, or holds it back until there is a place for it. In the order of asking. Money is the host's matter. */
export function admitTask(turn: Turn, instance: Instance): void {
  const { blocked } = turn.state;
  // Those before may have been given up meanwhile: `unblock` looks.
  if (blocked.size > 0) turn.hasRoom = true;
  else if (tryAdmit(turn, instance) === "decided") return;
  instance.phase = "blocked";
  // What has begun is to end: it goes before other beginnings.
  if (instance.costMicro > 0) blocked.unshift(instance);
  else blocked.push(instance);
}

/** A place may have become free: waiting tasks are dispatched in their order. */
export function unblock(turn: Turn): void {
  const { blocked, active } = turn.state;
  for (let instance = blocked.peek(); instance !== undefined; instance = blocked.peek()) {
    const isWanted = instance.phase === "blocked" && active.get(instance.path) === instance;
    if (isWanted && tryAdmit(turn, instance) === "held") return;
    blocked.shift();
  }
}

function tryAdmit(turn: Turn, instance: Instance): "decided" | "held" {
  const { state } = turn;
  if (state.isSuspended) return "held";
  const places = state.graph.graph.limits.maxInFlight;
  if (places !== undefined && state.tasksInFlight >= places) return "held";
  const own = instance.step.step.maxCostMicro;
  if (own !== undefined && instance.costMicro + instance.lostMicro >= own) {
    const message = `"${instance.path}" has used up its own max_cost_usd.`;
    failInstance(turn, instance, { code: "STEP_BUDGET_EXCEEDED", message, seq: 0 }, { mayRetry: false });
    return "decided";
  }
  const isCleaning = isInFinally(instance.scope);
  if (!isCleaning && isBudgetAsked(state)) return "held";
  if (isCleaning || findUsedUp(state.budget) === undefined) dispatch(turn, instance, false);
  // Reusing an outcome of an earlier run uses nothing.
  else if (state.reusesOutcomes && instance.attempt === 0) dispatch(turn, instance, true);
  // Running tasks may end.
  else if (state.tasksInFlight > 0) return "held";
  else stopForBudget(turn, instance);
  return "decided";
}

function dispatch(turn: Turn, instance: Instance, onlyReuse: boolean): void {
  const { state } = turn;
  instance.phase = "dispatched";
  instance.attempt += 1;
  instance.startedAt = state.now;
  forgetOldDeaths(instance, state.now);
  state.tasksInFlight += 1;
  state.budget.tries += 1;
  const { attempt } = instance;
  turn.commands.push({ type: "startTask", instance, attempt, ...(onlyReuse ? { onlyReuse } : {}) });
}

/** Closing the run ends the instance too: if it ended first, what depends on it could begin. */
export function stopForBudget(turn: Turn, instance: Instance): void {
  const { state } = turn;
  state.stopping ??= "budget";
  instance.phase = "blocked";
  if (state.root !== undefined) failScope(turn, state.root, undefined);
}

/** `finally` runs even when the money is gone: it is there to clean up. */
export function isInFinally(scope: Scope): boolean {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent?.scope)
    if (at.role === "finally") return true;
  return false;
}
