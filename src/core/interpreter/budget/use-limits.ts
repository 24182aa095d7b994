import type { UseLimits } from "../../graph/graph.ts";
import type { Amounts } from "../../history/events.ts";
import type { Budget, Instance, RunState } from "../../history/run-state.ts";
import type { JsonObject } from "../../json.ts";
import { countedMicro } from "./paid-calls.ts";

/** How much of one limit of a run is used. Money in micro-dollars, time in milliseconds. */
export interface LimitUse {
  readonly of: "cost" | "tokens" | "tries" | "duration";
  readonly limit: number;
  readonly used: number;
}

/** Every limit that the run has. Time counts up to the latest event. */
export function limitUses({ budget, now, startedAt }: RunState): readonly LimitUse[] {
  const limits = budget.asks ?? toAmounts(budget.limitMicro, budget.uses);
  return [
    ...limit("cost", limits.cost, countedMicro(budget)),
    ...limit("tokens", limits.tokens, budget.tokens),
    ...limit("tries", limits.tries, budget.tries),
    ...limit("duration", limits.duration, now - startedAt),
  ];
}

export function toAmounts(cost: number | undefined, uses: UseLimits): Amounts {
  const { maxTokens: tokens, maxTries: tries, maxDurationMs: duration } = uses;
  return { cost, tokens, tries, duration };
}

/** The limit that allows no other task to begin. Not money, which is reserved before, and not time, which has a timer. */
export function findUsedUp({ uses, tokens, tries }: Budget): LimitUse | undefined {
  const { maxTokens, maxTries } = uses;
  return [...limit("tokens", maxTokens, tokens), ...limit("tries", maxTries, tries)].find(
    ({ limit: most, used }) => used >= most,
  );
}

/** The tokens of an attempt's usage, whether they came from a cache or not. */
export function countTokens(usage: JsonObject | undefined): number {
  return ["input_tokens", "output_tokens"].reduce((sum, name) => {
    const tokens = usage?.[name];
    return typeof tokens === "number" && tokens > 0 ? sum + tokens : sum;
  }, 0);
}

function limit(of: LimitUse["of"], most: number | undefined, used: number): readonly LimitUse[] {
  return most === undefined ? [] : [{ of, limit: most, used }];
}

/** The keys of questions about a budget of the host begin with this. An answer that does not approve stops the run. */
const BUDGET_KEY = "@budget ";

export function isBudgetKey(key: string): boolean {
  return key.startsWith(BUDGET_KEY);
}

/** `asked`: tells the question from others about the same budget. */
export function budgetKeyOf(budget: string, asked: string): string {
  return `${BUDGET_KEY}${budget} ${asked}`;
}

export function asksForBudget({ question }: Instance): boolean {
  return question !== undefined && isBudgetKey(question.key);
}

/** A person is asked to raise a limit, and nothing else begins meanwhile. */
export function isBudgetAsked({ budget }: RunState): boolean {
  return budget.question !== undefined;
}
