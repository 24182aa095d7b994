import type { Amounts } from "../../../core/history/events.ts";
import type { RunState } from "../../../core/history/run-state.ts";
import type { BudgetAccount } from "./budget-account.ts";

/** Limits of one run that a person may raise. What is used stands in its state; tries count when they begin. */
export class OwnAccount implements BudgetAccount {
  readonly id = "run";
  readonly name = "What the run may use";
  readonly onExceeded = "ask";
  readonly day = "";
  readonly set: Amounts;
  readonly reserved = new Map<object, Amounts>();
  readonly #state: RunState;
  #tries: number;

  constructor(state: RunState, tries: number) {
    this.#state = state;
    this.set = state.budget.set;
    this.#tries = tries;
  }

  get limits(): Amounts {
    return this.#state.budget.asks ?? {};
  }

  get used(): Amounts {
    const { budget, now, startedAt } = this.#state;
    return { cost: budget.spentMicro, tokens: budget.tokens, tries: this.#tries, duration: now - startedAt };
  }

  addTries(count: number): void {
    this.#tries += count;
  }
}
