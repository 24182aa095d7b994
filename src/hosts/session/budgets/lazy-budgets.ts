import type { IndexedGraph } from "../../../core/graph/indexed-graph.ts";
import { toIsoDay } from "../../../core/iso-time.ts";
import type { Journal } from "../../../ports/journal.ts";
import type { Budgets } from "../../../ports/service/budgets.ts";
import type { GraphCache } from "../graph-cache.ts";
import { rebuildRun } from "../rebuild-run.ts";
import type { BudgetLedger } from "./budget-ledger.ts";
import { toRunShares } from "./paying-run.ts";
import { UseTracker } from "./use-tracker.ts";

interface LazyBudgetsParts {
  readonly ledger: BudgetLedger;
  readonly journal: Journal;
  readonly graphs: GraphCache;
  /** Undefined: nobody has set a budget so far. */
  openBudgets?(): Promise<Budgets | undefined>;
}

/** Opens the records of budgets when the first budget is set, which may be while this process runs. They bind the runs that begin after that. */
export class LazyBudgets {
  readonly #parts: LazyBudgetsParts;
  #opened: Promise<void> | undefined;

  constructor(parts: LazyBudgetsParts) {
    this.#parts = parts;
  }

  /** Called before a run begins or goes on. */
  open(): void | Promise<void> {
    const { ledger, openBudgets } = this.#parts;
    if (ledger.records !== undefined || openBudgets === undefined) return;
    this.#opened ??= this.#read().finally(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }

  async #read(): Promise<void> {
    const { ledger, journal, graphs, openBudgets } = this.#parts;
    const records = await openBudgets?.();
    if (records === undefined) return;
    await reconcileBudgets(records, journal, graphs.byHash);
    ledger.records = records;
  }
}

/** After a crash the journals say what runs have used, not the records of budgets. */
async function reconcileBudgets(budgets: Budgets, journal: Journal, graphs: Map<string, IndexedGraph>): Promise<void> {
  for (const { run, upToSeq, budgets: bound } of await budgets.open()) {
    const record = await journal.findRun(run);
    // Its first commit never came.
    if (record === undefined || record === "ambiguous") await budgets.close(run, []);
    else if (record.completedAt !== undefined || record.lastSeq !== upToSeq) {
      const tracker = new UseTracker();
      const { state } = await rebuildRun(journal, record, graphs, (at, event) => tracker.observe(at, event));
      tracker.assume(state);
      const known = (await Promise.all(bound.map((id) => budgets.find(id)))).flatMap((budget) => budget ?? []);
      const shares = toRunShares(tracker, known, toIsoDay(record.createdAt));
      if (record.completedAt === undefined) await budgets.note(run, shares, record.lastSeq);
      else await budgets.close(run, shares);
    }
  }
}
