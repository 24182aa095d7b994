import type { Budgets } from "../../../ports/budgets.ts";
import type { Journal } from "../../../ports/journal.ts";
import type { GraphCache } from "../graph-cache.ts";
import type { BudgetLedger } from "./budget-ledger.ts";
import { reconcileBudgets } from "./reconcile-budgets.ts";

interface LazyBudgetsParts {
  readonly ledger: BudgetLedger;
  readonly journal: Journal;
  readonly graphCache: GraphCache;
  /** Undefined: nobody has set any so far. */
  openBudgets?(): Promise<Budgets | undefined>;
}

/** Budgets may come to be while this process runs: then they bind the runs that begin after that. */
export class LazyBudgets {
  readonly #parts: LazyBudgetsParts;
  #opened: Promise<void> | undefined;

  constructor(parts: LazyBudgetsParts) {
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
    const { ledger, journal, graphCache, openBudgets } = this.#parts;
    const records = await openBudgets?.();
    if (records === undefined) return;
    await reconcileBudgets(records, journal, graphCache.byHash);
    ledger.records = records;
  }
}
