import { AMOUNTS, howNear, SHOWN_AMOUNTS } from "../../core/amounts.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoDay, toIsoTime } from "../../core/iso-time.ts";
import type { Budget, Budgets } from "../../ports/service/budgets.ts";
import type { BudgetHold } from "../../ports/waits.ts";
import type { Place, Ports } from "../application/ports.ts";
import { toUsd } from "../limits/micro-dollars.ts";
import type { BudgetDescription } from "./budget-schema.ts";

/**
 * Refuses a run that no budget leaves anything for, before it has begun; one that asks a person lets it begin. Throws
 * `BUDGET_EXCEEDED`. Tells whether money is limited.
 */
export async function checkBudgets(
  app: Pick<Ports, "budgets" | "clock" | "tenantId">,
  workflow: string,
): Promise<{ readonly limitsCost: boolean }> {
  const budgets = await app.budgets();
  if (budgets === undefined) return { limitsCost: false };
  const { tenantId } = app;
  const applying = await budgets.applying({ workflow, tenantId });
  for (const budget of applying) {
    const { uses } = await describeBudget(app, budgets, budget);
    const over = uses.find(({ is }) => is === "used_up");
    if (over === undefined || budget.onExceeded === "ask") continue;
    throw new PawlError("BUDGET_EXCEEDED", {
      message: `The budget ${budget.id} is used up: ${over.used} of ${over.limit} ${over.of}.`,
      remedy: `Raise it with \`pawl budgets set\`${budget.per === "day" ? ", or wait for tomorrow (UTC)" : ""}.`,
      details: { budget_id: budget.id },
    });
  }
  return { limitsCost: applying.some(({ limits }) => limits.cost !== undefined) };
}

export async function describeBudget(
  app: Pick<Place, "clock">,
  budgets: Budgets,
  budget: Budget,
  holds: readonly BudgetHold[] = [],
): Promise<BudgetDescription> {
  const { id, workflow, tenantId, per, onExceeded, webhook, limits, createdAt, updatedAt } = budget;
  const day = per === "day" ? toIsoDay(app.clock.now()) : "";
  const { use, raised } = await budgets.sum(id, day);
  const uses = AMOUNTS.flatMap((kind): BudgetDescription["uses"] => {
    const set = limits[kind];
    if (set === undefined) return [];
    const { of, unit } = SHOWN_AMOUNTS[kind];
    const limit = set + (raised[kind] ?? 0);
    const is = howNear(use[kind], limit);
    return [{ of, limit: limit / unit, raised_by: (raised[kind] ?? 0) / unit, used: use[kind] / unit, is }];
  });
  return {
    budget_id: id,
    workflow: workflow ?? null,
    tenant_id: tenantId ?? null,
    per,
    on_exceeded: onExceeded,
    webhook: webhook ?? null,
    day: day === "" ? null : day,
    uses,
    reserved: describeHolds(holds.filter((hold) => hold.budget === id)),
    unpriced: use.unpriced,
    created_at: toIsoTime(createdAt),
    updated_at: toIsoTime(updatedAt),
  };
}

export function describeHolds(holds: readonly BudgetHold[]): BudgetDescription["reserved"] {
  const sum = (of: "heldMicro" | "runs" | "waiting") => holds.reduce((total, hold) => total + hold[of], 0);
  return { usd: toUsd(sum("heldMicro")), runs: sum("runs"), waiting: sum("waiting") };
}
