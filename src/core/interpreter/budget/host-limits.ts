import type { Amounts, BudgetExhausted, LimitRaised, StepHeld } from "../../history/events.ts";
import { stopForBudget } from "../attempt/admission.ts";
import { concludeInstance } from "../attempt/conclude.ts";
import { release } from "../attempt/costs.ts";
import { currentAttempt } from "../attempt/outcomes.ts";
import type { Turn } from "../turn.ts";

/** For limits that the host holds: it reports when one is used up, and what a person has added to it. */
export function applyBudgetExhausted(turn: Turn, event: BudgetExhausted): void {
  const instance = currentAttempt(turn, event);
  if (instance?.phase !== "dispatched") return;
  const { budget } = turn.state;
  release(turn, instance);
  budget.tries -= 1;
  budget.exhausted ??= event.message;
  // The run is ending already.
  if (instance.scope.phase !== "open") return concludeInstance(turn, instance, { status: "cancelled" });
  stopForBudget(turn, instance);
}

/** The attempt waits with all others, in the order of asking. */
export function applyStepHeld(turn: Turn, event: StepHeld): void {
  const instance = currentAttempt(turn, event);
  if (instance?.phase !== "dispatched") return;
  release(turn, instance);
  turn.state.budget.tries -= 1;
  if (instance.scope.phase !== "open") return concludeInstance(turn, instance, { status: "cancelled" });
  instance.phase = "blocked";
  turn.state.blocked.push(instance);
  turn.hasRoom = true;
}

export function applyLimitRaised({ state: { budget, now, startedAt } }: Turn, { id, by }: LimitRaised): void {
  if (budget.raisedBy.includes(id)) return;
  budget.raisedBy.push(id);
  // A run that asks for nothing else asks about money in doubt.
  if (budget.limitMicro !== undefined) budget.limitMicro += by.cost ?? 0;
  if (budget.asks === undefined) return;
  const { cost, tokens, tries, duration } = budget.asks;
  budget.asks = {
    ...add("cost", cost, by),
    ...add("tokens", tokens, by),
    ...add("tries", tries, by),
    // The time that has passed while a person was asked does not count.
    ...add("duration", by.duration === undefined ? duration : Math.max(duration ?? 0, now - startedAt), by),
  };
}

function add(of: keyof Amounts, limit: number | undefined, by: Amounts): Amounts {
  return limit === undefined ? {} : { [of]: limit + (by[of] ?? 0) };
}
