import { z } from "zod";
import { AMOUNTS, howNear, SHOWN_AMOUNTS } from "../../core/amounts.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoDay, toIsoTime } from "../../core/iso-time.ts";
import type { Budget, Budgets } from "../../ports/service/budgets.ts";
import type { Application } from "../application/application.ts";
import { timeSchema } from "../schemas.ts";

export const budgetSchema = z
  .object({
    budget_id: z.string(),
    workflow: z.string().nullable().describe("Null: of every workflow."),
    tenant_id: z.string().nullable().describe("Null: of everybody."),
    per: z.enum(["day", "total"]).describe("A day is one in UTC."),
    on_exceeded: z.enum(["stop", "ask"]),
    webhook: z.string().nullable(),
    day: z.string().nullable().describe("That `uses` is about."),
    uses: z.array(
      z.object({
        of: z.enum(["cost_usd", "tokens", "steps", "seconds"]),
        limit: z.number().describe("With what people have added."),
        raised_by: z.number(),
        used: z.number(),
        is: z.enum(["ok", "near", "used_up"]).describe("`near`: 80 % are used."),
      }),
    ),
    unpriced: z.boolean().describe("Something had no known price: the cost is a lower bound."),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: "Budget", description: "What runs may use together." });

export type BudgetDescription = z.output<typeof budgetSchema>;

/**
 * Refuses a run that no budget leaves anything for, before it has begun; one that asks a person lets it begin. Throws
 * `BUDGET_EXCEEDED`. Tells whether money is limited.
 */
export async function checkBudgets(
  app: Pick<Application, "budgets" | "clock" | "tenantId">,
  workflow: string,
): Promise<{ readonly limitsCost: boolean }> {
  const budgets = await app.budgets();
  if (budgets === undefined) return { limitsCost: false };
  const { tenantId } = app;
  const applying = budgets.applying({ workflow, tenantId });
  for (const budget of applying) {
    const { uses } = describeBudget(app, budgets, budget);
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

export function describeBudget(app: Pick<Application, "clock">, budgets: Budgets, budget: Budget): BudgetDescription {
  const { id, workflow, tenantId, per, onExceeded, webhook, limits, createdAt, updatedAt } = budget;
  const day = per === "day" ? toIsoDay(app.clock.now()) : "";
  const { use, raised } = budgets.sum(id, day);
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
    unpriced: use.unpriced,
    created_at: toIsoTime(createdAt),
    updated_at: toIsoTime(updatedAt),
  };
}
