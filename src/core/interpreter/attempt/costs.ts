import type { CostReported, StepSucceeded } from "../../history/events.ts";
import type { Instance } from "../../history/run-state.ts";
import type { JsonObject } from "../../json.ts";
import { closeCalls, hasCalls, loseCalls, settleCall } from "../budget/paid-calls.ts";
import { countTokens } from "../budget/use-limits.ts";
import type { Turn } from "../turn.ts";

export interface Cost {
  readonly costMicro?: number;
  readonly unpriced?: boolean;
  readonly usage?: JsonObject;
  readonly reused?: StepSucceeded["reused"];
}

/** Money spent before the outcome is known. */
export function applyCostReported(turn: Turn, event: CostReported): void {
  settleCall(turn, event);
  const instance = turn.state.active.get(event.path);
  if (instance?.attempt !== event.attempt || instance.phase !== "dispatched") {
    bookLate(turn, event);
    // The step's own limit counts all of its attempts.
    if (instance !== undefined && event.call !== undefined) instance.costMicro += event.costMicro;
    return;
  }
  if (event.refused === true) instance.callsSent -= 1;
  const { budget } = turn.state;
  budget.spentMicro += event.costMicro;
  instance.costMicro += event.costMicro;
  instance.attemptCostMicro += event.costMicro;
}

/** The attempt is over: its whole cost is booked, its place free. */
export function bookAttempt(turn: Turn, instance: Instance, cost: Cost): void {
  const { budget } = turn.state;
  closeBooked(turn, instance, cost);
  const total = cost.costMicro ?? 0;
  const rest = Math.max(0, total - instance.attemptCostMicro);
  budget.spentMicro += rest;
  instance.costMicro += rest;
  if (cost.unpriced === true) budget.unpriced = true;
  // Nothing was done.
  if (cost.reused === undefined) budget.tokens += countTokens(cost.usage);
  else budget.tries -= 1;
  // An attempt that went on from another one has cost what both have.
  const whole = instance.failures === 0 ? instance.costMicro : Math.max(total, instance.attemptCostMicro);
  const seen = budget.costs.get(instance.step.key);
  if (seen !== undefined) {
    seen.count += 1;
    seen.micro += whole;
  } else if (whole > 0) budget.costs.set(instance.step.key, { count: 1, micro: whole });
  release(turn, instance);
}

/** Without a known price the attempt's calls stay as unknown as they are; without calls on record nothing bounds its cost. */
function closeBooked(turn: Turn, { path, attempt }: { path: string; attempt: number }, { unpriced }: Cost): void {
  if (unpriced !== true) closeCalls(turn, path, attempt);
  else if (!hasCalls(turn, path, attempt)) turn.state.budget.unbounded += 1;
}

export function release(turn: Turn, instance: Instance): void {
  const { state } = turn;
  loseCalls(turn, instance.path, instance.attempt);
  instance.attemptCostMicro = 0;
  state.tasksInFlight -= 1;
  if (state.blocked.size > 0) turn.hasRoom = true;
}

/** The attempt no longer counts, but what it costs is still booked if it is ever known. */
export function giveUp(turn: Turn, instance: Instance): void {
  turn.state.orphans.set(`${instance.path}@${instance.attempt}`, instance.attemptCostMicro);
  release(turn, instance);
}

/** Books the cost of an attempt that no longer counts. */
export function bookLate(
  turn: Turn,
  event: Cost & { readonly type: string; readonly path: string; readonly attempt: number },
): void {
  const { orphans, budget } = turn.state;
  const orphan = `${event.path}@${event.attempt}`;
  const booked = orphans.get(orphan) ?? 0;
  const total = event.costMicro ?? 0;
  if (event.type === "costReported") {
    budget.spentMicro += total;
    orphans.set(orphan, booked + total);
    return;
  }
  closeBooked(turn, event, event);
  budget.spentMicro += Math.max(0, total - booked);
  budget.tokens += countTokens(event.usage);
  if (event.unpriced === true) budget.unpriced = true;
  orphans.delete(orphan);
}
