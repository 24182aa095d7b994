import { createHash } from "node:crypto";
import { AMOUNTS, howNear, SHOWN_AMOUNTS, type ShownAmount } from "../../core/amounts.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Amounts } from "../../core/history/events.ts";
import { toIsoDay, toIsoTime } from "../../core/iso-time.ts";
import type { Budget, Budgets } from "../../ports/budgets.ts";
import type { Application } from "../application/application.ts";
import { TENANT_ID, TENANT_ID_RULE } from "../application/tenant-id.ts";

/** A budget as people see it. */
export interface BudgetDescription {
  readonly budget_id: string;
  readonly workflow: string | null;
  readonly tenant_id: string | null;
  readonly per: Budget["per"];
  readonly on_exceeded: Budget["onExceeded"];
  readonly webhook: string | null;
  /** For a daily budget: the day of `uses`, in UTC. */
  readonly day: string | null;
  readonly uses: readonly BudgetUseDescription[];
  /** Something had no known price: the cost is a lower bound. */
  readonly unpriced: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

interface BudgetUseDescription {
  readonly of: ShownAmount;
  /** With what people have added. */
  readonly limit: number;
  readonly raised_by: number;
  readonly used: number;
  /** `near`: 80 % are used. */
  readonly is: "ok" | "near" | "used_up";
}

export interface WantedBudget {
  readonly workflow?: string | undefined;
  readonly tenant_id?: string | undefined;
  readonly per?: Budget["per"] | undefined;
  readonly max_cost_usd?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly max_steps?: number | undefined;
  readonly max_seconds?: number | undefined;
  readonly on_exceeded?: Budget["onExceeded"] | undefined;
  readonly webhook?: string | undefined;
}

type BudgetApplication = Pick<Application, "service" | "clock" | "tenantId">;

/** One budget for one workflow, tenant and period: set again, it is changed. Throws `FORBIDDEN`, `USAGE`. */
export async function setBudget(app: BudgetApplication, wanted: WantedBudget): Promise<BudgetDescription> {
  refuseTenant(app);
  const { workflow, tenant_id: tenantId, per = "day", on_exceeded: onExceeded = "stop", webhook } = wanted;
  refuseUnreadable(wanted);
  const limits = toLimits(wanted);
  if (Object.keys(limits).length === 0) {
    throw new PawlError("USAGE", { message: "A budget limits something: US dollars, tokens, steps or seconds." });
  }
  const now = app.clock.now();
  const { budgets } = await app.service();
  const stored = budgets.put({
    id: idOf({ workflow, tenantId, per }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(tenantId === undefined ? {} : { tenantId }),
    per,
    limits,
    onExceeded,
    ...(webhook === undefined ? {} : { webhook }),
    createdAt: now,
    updatedAt: now,
  });
  return describe(app, budgets, stored);
}

/** A tenant sees its own. */
export async function listBudgets(app: BudgetApplication): Promise<readonly BudgetDescription[]> {
  const { budgets } = await app.service();
  const seen = budgets.list().filter((budget) => isSeen(app, budget));
  return seen.map((budget) => describe(app, budgets, budget));
}

/** Throws `BUDGET_NOT_FOUND`. */
export async function showBudget(app: BudgetApplication, id: string): Promise<BudgetDescription> {
  const { budgets } = await app.service();
  return describe(app, budgets, find(app, budgets, id));
}

/** With what was used of it. Throws `BUDGET_NOT_FOUND`, `FORBIDDEN`. */
export async function removeBudget(app: BudgetApplication, id: string): Promise<void> {
  const { budgets } = await app.service();
  const budget = find(app, budgets, id);
  refuseTenant(app);
  budgets.remove(budget.id);
}

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
    const { uses } = describe(app, budgets, budget);
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

function find({ tenantId }: BudgetApplication, budgets: Budgets, id: string): Budget {
  const budget = budgets.find(id);
  if (budget !== undefined && isSeen({ tenantId }, budget)) return budget;
  throw new PawlError("BUDGET_NOT_FOUND", { message: `There is no budget "${id}".` });
}

function isSeen({ tenantId }: Pick<BudgetApplication, "tenantId">, budget: Budget): boolean {
  return tenantId === undefined || budget.tenantId === tenantId;
}

/** Who is limited does not say how far. */
function refuseTenant({ tenantId }: BudgetApplication): void {
  if (tenantId === undefined) return;
  throw new PawlError("FORBIDDEN", { message: "Budgets are set by whoever runs the service, not by a tenant." });
}

/** The service has checked it already, the command line has not. */
function refuseUnreadable({ workflow, tenant_id: tenantId, webhook }: WantedBudget): void {
  if (workflow !== undefined && !/^\P{Cc}{1,200}$/u.test(workflow)) {
    throw new PawlError("USAGE", { message: "The name of a workflow has 1 to 200 characters that can be seen." });
  }
  if (tenantId !== undefined && !TENANT_ID.test(tenantId)) {
    throw new PawlError("USAGE", { message: `No tenant can be called "${tenantId}": its id ${TENANT_ID_RULE}.` });
  }
  if (webhook !== undefined && !/^https?:$/.test(URL.parse(webhook)?.protocol ?? "")) {
    throw new PawlError("USAGE", {
      message: `The webhook "${webhook}" is no URL that begins with http:// or https://.`,
    });
  }
}

function idOf(subject: {
  readonly workflow: string | undefined;
  readonly tenantId: string | undefined;
  readonly per: string;
}): string {
  const { workflow, tenantId, per } = subject;
  const named = JSON.stringify([workflow ?? null, tenantId ?? null, per]);
  return `budget-${createHash("sha256").update(named).digest("hex").slice(0, 12)}`;
}

function toLimits({ max_cost_usd, max_tokens, max_steps, max_seconds }: WantedBudget): Amounts {
  const wanted = { cost: max_cost_usd, tokens: max_tokens, tries: max_steps, duration: max_seconds };
  const limits: Record<string, number> = {};
  for (const kind of AMOUNTS) {
    const amount = wanted[kind];
    if (amount === undefined) continue;
    const limit = Math.round(amount * SHOWN_AMOUNTS[kind].unit);
    if (!Number.isSafeInteger(limit) || limit < 0)
      throw new PawlError("USAGE", { message: `A limit is a number from 0; ${amount} is none.` });
    limits[kind] = limit;
  }
  return limits;
}

function describe(app: Pick<Application, "clock">, budgets: Budgets, budget: Budget): BudgetDescription {
  const { id, workflow, tenantId, per, onExceeded, webhook, limits, createdAt, updatedAt } = budget;
  const day = per === "day" ? toIsoDay(app.clock.now()) : "";
  const { use, raised } = budgets.sum(id, day);
  const uses = AMOUNTS.flatMap((kind): BudgetUseDescription[] => {
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
