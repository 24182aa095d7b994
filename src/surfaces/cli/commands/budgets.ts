import type { OpenApplication } from "../../../operations/application/application.ts";
import {
  type BudgetDescription,
  listBudgets,
  removeBudget,
  setBudget,
  showBudget,
} from "../../../operations/costs/shared-budgets.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl budgets ls`. */
export async function listBudgetsCommand(app: OpenApplication, options: CommonOptions): Promise<number> {
  return showBudgets(await listBudgets(app), options);
}

export async function showBudgets(items: readonly BudgetDescription[], options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope({ items, next_cursor: null });
  else await printTable(items);
  return 0;
}

/** `pawl budgets show ID`. */
export async function showBudgetCommand(app: OpenApplication, id: string, options: CommonOptions): Promise<number> {
  return showOneBudget(await showBudget(app, id), options);
}

export async function showOneBudget(budget: BudgetDescription, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(budget);
  else await printTable([budget]);
  return 0;
}

export interface SetBudgetOptions extends CommonOptions {
  readonly workflow?: string;
  readonly tenant?: string;
  readonly per: "day" | "total";
  readonly maxCost?: number;
  readonly maxTokens?: number;
  readonly maxSteps?: number;
  readonly maxSeconds?: number;
  readonly onExceeded: "stop" | "ask";
  readonly webhook?: string;
}

/** `pawl budgets set`. */
export async function setBudgetCommand(app: OpenApplication, options: SetBudgetOptions): Promise<number> {
  return showSetBudget(await setBudget(app, toBudget(options)), options);
}

/** As operations and the service take it. */
export function toBudget(options: SetBudgetOptions) {
  return {
    workflow: options.workflow,
    tenant_id: options.tenant,
    per: options.per,
    max_cost_usd: options.maxCost,
    max_tokens: options.maxTokens,
    max_steps: options.maxSteps,
    max_seconds: options.maxSeconds,
    on_exceeded: options.onExceeded,
    webhook: options.webhook,
  };
}

export async function showSetBudget(budget: BudgetDescription, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(budget);
  else {
    await printTable([budget]);
    tell("It binds runs that begin from now on. See what is used: pawl budgets ls");
  }
  return 0;
}

/** `pawl budgets rm ID`. */
export async function removeBudgetCommand(app: OpenApplication, id: string, options: CommonOptions): Promise<number> {
  await removeBudget(app, id);
  return showRemovedBudget(id, options);
}

export function showRemovedBudget(id: string, options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope({ budget_id: id });
  else tell(`Removed ${id}: it limits nothing any more.`);
  return 0;
}

async function printTable(budgets: readonly BudgetDescription[]): Promise<void> {
  const { renderBudgets } = await import("../render/render-budgets.ts");
  print(renderBudgets(budgets, pageOptions()));
}
