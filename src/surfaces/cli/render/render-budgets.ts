import type { BudgetDescription } from "../../../operations/costs/shared-budgets.ts";
import { formatUsd } from "./format-usd.ts";
import type { PageOptions } from "./render-runs.ts";
import { sanitize } from "./sanitize.ts";
import type { Segment } from "./segment.ts";
import { renderTable } from "./table.ts";

/** The table of `pawl budgets ls`: a line for each limit. */
export function renderBudgets(budgets: readonly BudgetDescription[], { paint, width }: PageOptions): string {
  if (budgets.length === 0) return "There are no budgets. Set one: pawl budgets set --max-cost 10";
  const columns = ["ID", "WORKFLOW", "TENANT", "PER", "USED", "LIMIT", "OF", "THEN"].map((title) => ({ title }));
  const rows = budgets.flatMap((budget) =>
    budget.uses.map(({ of, used, limit, is }): Segment[] => [
      { text: budget.budget_id },
      { text: sanitize(budget.workflow ?? "all") },
      { text: sanitize(budget.tenant_id ?? "all") },
      { text: budget.per },
      { text: shown(of, used, budget.unpriced), ...(is === "ok" ? {} : { style: "yellow" as const }) },
      { text: shown(of, limit, false) },
      { text: of },
      { text: budget.on_exceeded },
    ]),
  );
  return renderTable(columns, rows, { paint, width });
}

function shown(of: string, amount: number, unpriced: boolean): string {
  return of === "cost_usd" ? formatUsd(amount, { unpriced }) : String(amount);
}
