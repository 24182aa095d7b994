import type { Instance, RunState } from "../../history/run-state.ts";

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
