import type { Budgets } from "../../../ports/budgets.ts";
import type { Journal } from "../../../ports/journal.ts";
import type { GraphShelf } from "../graph-shelf.ts";
import type { BudgetLedger } from "./budget-ledger.ts";
import { reconcileShares } from "./reconcile-shares.ts";

interface LateBudgetsParts {
  readonly ledger: BudgetLedger;
  readonly journal: Journal;
  readonly shelf: GraphShelf;
  /** Undefined: nobody has set any so far. */
  openBudgets?(): Promise<Budgets | undefined>;
}

/** Budgets may come to be while this process runs: then they bind the runs that begin after that. */
export class LateBudgets {
  readonly #parts: LateBudgetsParts;
  #opened: Promise<void> | undefined;

  constructor(parts: LateBudgetsParts) {
    this.#parts = parts;
  }

  /** Before a run begins or goes on. */
  look(): void | Promise<void> {
    const { ledger, openBudgets } = this.#parts;
    if (ledger.records !== undefined || openBudgets === undefined) return;
    this.#opened ??= this.#read().finally(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }

  async #read(): Promise<void> {
    const { ledger, journal, shelf, openBudgets } = this.#parts;
    const records = await openBudgets?.();
    if (records === undefined) return;
    await reconcileShares(records, journal, shelf.byHash);
    ledger.records = records;
  }
}
