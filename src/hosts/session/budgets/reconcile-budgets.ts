import type { IndexedGraph } from "../../../core/graph/indexed-graph.ts";
import { toIsoDay } from "../../../core/iso-time.ts";
import type { Budgets } from "../../../ports/budgets.ts";
import type { Journal } from "../../../ports/journal.ts";
import { rebuildRun } from "../rebuild-run.ts";
import { toRunShares } from "./paying-run.ts";
import { UseTracker } from "./use-tracker.ts";

/** After a crash: what runs have used is what their journals say, whatever was written down of it. */
export async function reconcileBudgets(
  budgets: Budgets,
  journal: Journal,
  graphs: Map<string, IndexedGraph>,
): Promise<void> {
  for (const { run, upToSeq, budgets: bound } of budgets.open()) {
    const record = await journal.findRun(run);
    // Its first commit never came.
    if (record === undefined || record === "ambiguous") budgets.close(run, []);
    else if (record.completedAt !== undefined || record.lastSeq !== upToSeq) {
      const tracker = new UseTracker();
      await rebuildRun(journal, record, graphs, (state, event) => tracker.observe(state, event));
      const known = bound.flatMap((id) => budgets.find(id) ?? []);
      const shares = toRunShares(tracker, known, toIsoDay(record.createdAt));
      if (record.completedAt === undefined) budgets.note(run, shares, record.lastSeq);
      else budgets.close(run, shares);
    }
  }
}
