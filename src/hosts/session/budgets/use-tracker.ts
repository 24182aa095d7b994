import type { Event } from "../../../core/history/events.ts";
import type { RunState } from "../../../core/history/run-state.ts";
import { countedMicro } from "../../../core/interpreter/budget/paid-calls.ts";
import { toIsoDay } from "../../../core/iso-time.ts";
import type { BudgetUse } from "../../../ports/service/budgets.ts";

export const NOTHING: BudgetUse = { cost: 0, tokens: 0, tries: 0, duration: 0, unpriced: false };

/** The use that an event has added. */
export interface Added {
  readonly day: string;
  readonly use: BudgetUse;
}

/** Adds up the use of a run by day in UTC, from its events as they come or from its history. */
export class UseTracker {
  readonly #byDay = new Map<string, BudgetUse>();
  #cost = 0;
  #tokens = 0;
  #tries = 0;

  /** Called after `event` was applied to `state`. Undefined: it has used nothing. */
  observe({ budget }: RunState, event: Event): Added | undefined {
    const cost = countedMicro(budget) - this.#cost;
    const tokens = budget.tokens - this.#tokens;
    const tries = budget.tries - this.#tries;
    const unpriced = "unpriced" in event && event.unpriced === true;
    const duration = durationOf(event);
    if (cost === 0 && tokens === 0 && tries === 0 && duration === 0 && !unpriced) return undefined;
    this.#cost = countedMicro(budget);
    this.#tokens = budget.tokens;
    this.#tries = budget.tries;
    const day = toIsoDay(event.at);
    const use = { cost, tokens, tries, duration, unpriced };
    this.#byDay.set(day, addUse(this.#byDay.get(day) ?? NOTHING, use));
    return { day, use };
  }

  /** After a rebuild: calls that were in flight when the process died may have cost what was reserved for them. */
  assume({ budget, now }: RunState): void {
    if (budget.openMicro === 0) return;
    const day = toIsoDay(now);
    this.#cost += budget.openMicro;
    this.#byDay.set(day, addUse(this.#byDay.get(day) ?? NOTHING, { ...NOTHING, cost: budget.openMicro }));
  }

  get byDay(): ReadonlyMap<string, BudgetUse> {
    return this.#byDay;
  }

  get inAll(): BudgetUse {
    return [...this.#byDay.values()].reduce(addUse, NOTHING);
  }
}

export function addUse(a: BudgetUse, b: BudgetUse): BudgetUse {
  return {
    cost: a.cost + b.cost,
    tokens: a.tokens + b.tokens,
    tries: a.tries + b.tries,
    duration: a.duration + b.duration,
    unpriced: a.unpriced || b.unpriced,
  };
}

/** How long the attempt took whose outcome this is. */
function durationOf(event: Event): number {
  const isOutcome = event.type === "stepSucceeded" || event.type === "stepFailed" || event.type === "approvalAsked";
  if (!isOutcome || !("startedAt" in event) || event.startedAt === undefined) return 0;
  return Math.max(0, event.at - event.startedAt);
}
