import { createHash } from "node:crypto";
import { z } from "zod";
import { AMOUNTS, SHOWN_AMOUNTS } from "../../core/amounts.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Amounts } from "../../core/history/events.ts";
import type { Budget, Budgets } from "../../ports/service/budgets.ts";
import type { Driving, Place, Principal, Stores } from "../application/ports.ts";
import { TENANT_ID, TENANT_ID_RULE } from "../application/tenant-id.ts";
import { defineOperation, type OperationContext, type Table } from "../operation.ts";
import { idField, listOf, numberedPage, takePage } from "../schemas.ts";
import { type BudgetDescription, budgetSchema } from "./budget-schema.ts";
import { describeBudget } from "./shared-budgets.ts";

const NO_MODEL = { no: "A model that is limited does not say how far." };
const id = idField("The budget's id.", "budgets ls");

/** A row for each limit. */
const table: Table<BudgetDescription> = {
  empty: "There are no budgets. Set one: pawl budgets set --max-cost 10",
  columns: (budget) =>
    budget.uses.map(({ of, used, limit, is }) => {
      const [isCost, warns] = [of === "cost_usd", is !== "ok"];
      return {
        ID: budget.budget_id,
        WORKFLOW: budget.workflow ?? "all",
        TENANT: budget.tenant_id ?? "all",
        PER: budget.per,
        USED: isCost ? { usd: used, unpriced: budget.unpriced, warns } : { text: used, warns },
        LIMIT: isCost ? { usd: limit } : limit,
        OF: of,
        THEN: budget.on_exceeded,
        RESERVED: isCost ? { usd: budget.reserved.usd } : "",
        WAITING: budget.reserved.waiting === 0 ? "" : budget.reserved.waiting,
      };
    }),
};

const wanted = z
  .strictObject({
    workflow: z
      .string()
      .regex(/^\P{Cc}{1,200}$/u, "has 1 to 200 characters that can be seen")
      .optional()
      .describe("By name. Absent: of every workflow."),
    tenant_id: z.string().regex(TENANT_ID, TENANT_ID_RULE).optional().describe("Of this tenant alone."),
    per: z.enum(["day", "total"]).default("day").describe("A day in UTC, or in all."),
    max_cost_usd: z.number().min(0).max(1_000_000).optional().describe("US dollars."),
    max_tokens: z.number().int().min(0).max(1_000_000_000_000).optional().describe("Of models, in and out."),
    max_steps: z.number().int().min(0).max(1_000_000_000).optional().describe("Tries of steps."),
    max_seconds: z.number().min(0).max(1_000_000_000).optional().describe("That tries took, added up."),
    on_exceeded: z.enum(["stop", "ask"]).default("stop").describe("Stop runs, or ask a person."),
    webhook: z
      .url({ protocol: /^https?$/, error: "must begin with http:// or https://" })
      .max(2_000)
      .optional()
      .describe("Is told when 80 % are used."),
  })
  .refine(
    (budget) =>
      [budget.max_cost_usd, budget.max_tokens, budget.max_steps, budget.max_seconds].some(
        (limit) => limit !== undefined,
      ),
    { message: "limits nothing: give some of `max_cost_usd`, `max_tokens`, `max_steps`, `max_seconds`" },
  );

export const setBudget = defineOperation({
  id: "setBudget",
  summary: "Set what runs of a workflow, a tenant or everybody may use together; set again, it is changed",
  scope: "admin",
  effect: { does: "writes", again: true },
  input: wanted,
  output: budgetSchema,
  errors: ["FORBIDDEN"],
  http: { method: "POST", path: "/budgets" },
  cli: {
    verb: "budgets set",
    summary: "set one; set again for the same, it is changed",
    options: { tenant_id: "--tenant <id>", max_cost_usd: "--max-cost <usd>", on_exceeded: "--on-exceeded <what>" },
    table,
    show: () => ({ told: ["It binds runs that begin from now on. See what is used: pawl budgets ls"] }),
    example: "budgets set --workflow lead-enrichment --max-cost 10 --on-exceeded ask",
  },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<Place & Principal & Stores>, given) {
    refuseTenant(app);
    const { workflow, tenant_id: tenantId, per, on_exceeded: onExceeded, webhook } = given;
    const now = app.clock.now();
    const { budgets } = await app.service();
    const stored = await budgets.put({
      id: idOf({ workflow, tenantId, per }),
      workflow,
      tenantId,
      per,
      limits: toLimits(given),
      onExceeded,
      webhook,
      createdAt: now,
      updatedAt: now,
    });
    return describeBudget(app, budgets, stored);
  },
});

export const listBudgets = defineOperation({
  id: "listBudgets",
  summary: "List budgets and how much of them is used",
  scope: "read",
  effect: "reads",
  input: z.strictObject(numberedPage),
  output: listOf(budgetSchema),
  http: { method: "GET", path: "/budgets" },
  cli: { verb: "budgets ls", table },
  mcp: NO_MODEL,
  word: ({ budget_id: text, workflow, per }) => ({ text, meaning: `${workflow ?? "all workflows"}, ${per}` }),
  handle: async ({ app }: OperationContext<Place & Principal & Stores & Driving>, page) =>
    takePage(await budgetsOf(app), page),
  count: async ({ app }: OperationContext<Place & Principal & Stores & Driving>) => (await budgetsOf(app)).length,
});

export const getBudget = defineOperation({
  id: "getBudget",
  summary: "Show a budget and how much of it is used",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ id }),
  output: budgetSchema,
  errors: ["BUDGET_NOT_FOUND"],
  http: { method: "GET", path: "/budgets/{id}" },
  cli: { verb: "budgets show", args: ["id"], table },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<Place & Principal & Stores & Driving>, given) {
    const { budgets } = await app.service();
    const budget = await find(app, budgets, given.id);
    return describeBudget(app, budgets, budget, (await app.waits([])).holds);
  },
});

export const removeBudget = defineOperation({
  id: "removeBudget",
  summary: "Remove a budget, with what was counted",
  scope: "admin",
  effect: "destroys",
  input: z.strictObject({ id }),
  output: z.object({ budget_id: z.string() }),
  errors: ["BUDGET_NOT_FOUND", "FORBIDDEN"],
  http: { method: "DELETE", path: "/budgets/{id}" },
  cli: {
    verb: "budgets rm",
    args: ["id"],
    show: ({ budget_id }) => ({ told: [`Removed ${budget_id}: it limits nothing any more.`] }),
  },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<Principal & Stores>, given) {
    const { budgets } = await app.service();
    const budget = await find(app, budgets, given.id);
    refuseTenant(app);
    await budgets.remove(budget.id);
    return { budget_id: budget.id };
  },
});

/** A tenant sees its own. */
async function budgetsOf(app: Place & Principal & Stores & Driving): Promise<readonly BudgetDescription[]> {
  const { budgets } = await app.service();
  const seen = (await budgets.list()).filter((budget) => isSeen(app, budget));
  const holds = seen.length === 0 ? [] : (await app.waits([])).holds;
  return Promise.all(seen.map((budget) => describeBudget(app, budgets, budget, holds)));
}

async function find(app: Principal, budgets: Budgets, given: string): Promise<Budget> {
  const budget = await budgets.find(given);
  if (budget !== undefined && isSeen(app, budget)) return budget;
  throw new PawlError("BUDGET_NOT_FOUND", { message: `There is no budget "${given}".` });
}

function isSeen({ tenantId }: Principal, budget: Budget): boolean {
  return tenantId === undefined || budget.tenantId === tenantId;
}

/** A tenant is limited by others. */
function refuseTenant({ tenantId }: Principal): void {
  if (tenantId === undefined) return;
  throw new PawlError("FORBIDDEN", { message: "Budgets are set by the operator of the service, not by a tenant." });
}

/** One budget for one workflow, tenant and period. */
function idOf({ workflow, tenantId, per }: Pick<Budget, "workflow" | "tenantId" | "per">): string {
  const named = writeExact([workflow ?? null, tenantId ?? null, per]);
  return `budget-${createHash("sha256").update(named).digest("hex").slice(0, 12)}`;
}

function toLimits({ max_cost_usd, max_tokens, max_steps, max_seconds }: z.output<typeof wanted>): Amounts {
  const given = { cost: max_cost_usd, tokens: max_tokens, tries: max_steps, duration: max_seconds };
  return Object.fromEntries(
    AMOUNTS.flatMap((kind) => {
      const amount = given[kind];
      return amount === undefined ? [] : [[kind, Math.round(amount * SHOWN_AMOUNTS[kind].unit)]];
    }),
  );
}
