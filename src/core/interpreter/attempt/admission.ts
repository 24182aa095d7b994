import { writeMicro } from "../../amounts.ts";
import type { Instance, Scope } from "../../history/run-state.ts";
import { isBudgetAsked } from "../budget/budget-question.ts";
import { countedMicro, explainUsed } from "../budget/paid-calls.ts";
import { computeCap, computeReservation, isProbe } from "../budget/reservations.ts";
import { findUsedUp } from "../budget/use-limits.ts";
import { failScope } from "../flow/fail-scope.ts";
import type { Turn } from "../turn.ts";
import { failInstance } from "./conclude.ts";
import { forgetOldDeaths } from "./crashes.ts";

/** Dispatches a task, or holds it back until there is a place and money for it. In the order of asking. */
export function admitTask(turn: Turn, instance: Instance): void {
  const { blocked } = turn.state;
  // Those before may have been given up meanwhile: `unblock` looks.
  if (blocked.size > 0) turn.hasRoom = true;
  else if (tryAdmit(turn, instance) === "decided") return;
  instance.phase = "blocked";
  // What has begun is to end: money for its rest goes before money for other beginnings.
  if (instance.costMicro > 0) blocked.unshift(instance);
  else blocked.push(instance);
}

/** A place or money may have become free: waiting tasks are dispatched in their order. */
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
  if (isCleaning) dispatch(turn, instance, {});
  else return tryToPay(turn, instance);
  return "decided";
}

function tryToPay(turn: Turn, instance: Instance): "decided" | "held" {
  const { state } = turn;
  const isUsedUp = findUsedUp(state.budget) !== undefined;
  const share = isUsedUp ? ({ kind: "exceeded" } as const) : computeReservation(state.budget, instance);
  if (share === undefined) dispatch(turn, instance, {});
  else if (share.kind === "reserved") dispatch(turn, instance, { reservedMicro: share.amount });
  // Reusing an outcome of an earlier run costs nothing.
  else if (state.reusesOutcomes && instance.attempt === 0) dispatch(turn, instance, { onlyReuse: true });
  // Running tasks are paid for and may end.
  else if (share.kind === "hold" || (isUsedUp && state.tasksInFlight > 0)) return "held";
  else stopForOwnBudget(turn, instance);
  return "decided";
}

interface Terms {
  readonly reservedMicro?: number;
  readonly onlyReuse?: boolean;
}

function dispatch(turn: Turn, instance: Instance, { reservedMicro, onlyReuse }: Terms): void {
  const { state } = turn;
  instance.phase = "dispatched";
  instance.attempt += 1;
  instance.startedAt = state.now;
  forgetOldDeaths(instance, state.now);
  instance.reservedMicro = reservedMicro ?? 0;
  instance.isProbe = reservedMicro !== undefined && isProbe(state.budget, instance);
  if (instance.isProbe) state.budget.probing.add(instance.step.key);
  state.budget.reservedMicro += instance.reservedMicro;
  state.tasksInFlight += 1;
  state.budget.tries += 1;
  const maxCostMicro = computeCap(instance, reservedMicro);
  turn.commands.push({ type: "startTask", instance, attempt: instance.attempt, maxCostMicro, onlyReuse });
}

function stopForOwnBudget(turn: Turn, instance: Instance): void {
  const { budget } = turn.state;
  const { limitMicro = 0 } = budget;
  const { path, tooLittleMicro, needsMicro } = instance;
  const used = countedMicro(budget);
  const had =
    needsMicro !== undefined
      ? `its next call may cost ${writeMicro(needsMicro)}`
      : tooLittleMicro !== undefined
        ? `it was promised ${writeMicro(tooLittleMicro)} of ${writeMicro(limitMicro)} and was not done`
        : undefined;
  if (had !== undefined && used < limitMicro)
    budget.exhausted ??= `The budget is too little for "${path}": ${had}; ${explainUsed(budget)}.`;
  stopForBudget(turn, instance);
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
