import type { Instance, RunState } from "../../history/run-state.ts";

/** Questions whose key begins so are about a budget that the host holds; an answer that does not approve stops the run. */
const BUDGET_KEY = "@budget ";

export function isBudgetKey(key: string): boolean {
  return key.startsWith(BUDGET_KEY);
}

/** `asked`: what makes it this question. */
export function budgetKeyOf(budget: string, asked: string): string {
  return `${BUDGET_KEY}${budget} ${asked}`;
}

export function asksForBudget({ question }: Instance): boolean {
  return question !== undefined && isBudgetKey(question.key);
}

/** Somebody is asked to raise a limit, and nothing else begins meanwhile. */
export function isBudgetAsked({ budget }: RunState): boolean {
  return budget.question !== undefined;
}
