import type { IndexedGraph } from "../../../core/graph/indexed-graph.ts";
import { toIsoDay } from "../../../core/iso-time.ts";
import type { Journal } from "../../../ports/journal.ts";
import { type Budgets, NOBODY } from "../../../ports/service/budgets.ts";
import type { GraphCache } from "../graph-cache.ts";
import { rebuildRun } from "../rebuild-run.ts";
import type { BudgetLedger } from "./budget-ledger.ts";
import { toRunShares } from "./paying-run.ts";
import { UseTracker } from "./use-tracker.ts";

interface LazyBudgetsParts {
  readonly ledger: BudgetLedger;
  readonly journal: Journal;
  readonly graphs: GraphCache;
  /** Undefined: no budget is set so far. */
  openBudgets?(): Promise<Budgets | undefined>;
  readonly workers?: { list(): Promise<readonly string[]> } | undefined;
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
    if (!ledger.isShared) await reconcileBudgets(records, { journal, graphs: graphs.byHash, holder: ledger.holder });
    ledger.records = records;
  }

  /**
   * Processes that drove runs are dead, and can append nothing any more: what their runs have used is noted from the journal, and
   * what they held is free.
   */
  async settleDead(): Promise<void> {
    const { ledger, journal, graphs, workers } = this.#parts;
    const { records } = ledger;
    if (records === undefined || workers === undefined) return;
    // Read before those that live: a process that begins is known to live before it holds anything.
    const holders = await records.holders();
    const alive = holders.length === 0 ? [] : await workers.list();
    for (const dead of holders.filter((holder) => !alive.includes(holder) && holder !== ledger.holder)) {
      // A late note of the dead one finds that the run is no longer its own.
      await reconcileBudgets(records, { journal, graphs: graphs.byHash, holder: NOBODY, heldBy: dead });
      await records.release(dead);
    }
  }
}

interface ReconcileParts {
  readonly journal: Journal;
  readonly graphs: Map<string, IndexedGraph>;
  readonly holder: string;
  /** Only runs that this process has noted last. Absent: all. */
  readonly heldBy?: string;
}

/** After a crash the journals say what runs have used, not the records of budgets. */
async function reconcileBudgets(budgets: Budgets, parts: ReconcileParts): Promise<void> {
  const { journal, graphs, holder, heldBy } = parts;
  const by = { holder, isTakenUp: true, ...(heldBy === undefined ? {} : { ifHeldBy: [heldBy] }) };
  for (const { run, upToSeq, budgets: bound } of await budgets.open(heldBy)) {
    const record = await journal.findRun(run);
    // Its first commit never came.
    if (record === undefined || record === "ambiguous") await budgets.close(run, [], by);
    else if (!record.parked || record.completedAt !== undefined || record.lastSeq !== upToSeq) {
      const tracker = new UseTracker();
      const { state } = await rebuildRun(journal, record, graphs, (at, event) => tracker.observe(at, event));
      tracker.assume(state);
      const known = (await Promise.all(bound.map((id) => budgets.find(id)))).flatMap((budget) => budget ?? []);
      const shares = toRunShares(tracker, known, toIsoDay(record.createdAt));
      if (record.completedAt === undefined) await budgets.note(run, shares, { ...by, upToSeq: record.lastSeq });
      else await budgets.close(run, shares, by);
    }
  }
}
