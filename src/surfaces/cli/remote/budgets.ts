import { dataOf } from "../../../client/pawl-client.ts";
import type { CommonOptions } from "../cli-context.ts";
import {
  type SetBudgetOptions,
  showBudgets,
  showOneBudget,
  showRemovedBudget,
  showSetBudget,
  toBudget,
} from "../commands/budgets.ts";
import { given, type RemoteParts } from "./remote-parts.ts";

const byId = (id: string) => ({ params: { path: { id } } });

export async function listBudgets({ client }: RemoteParts, options: CommonOptions): Promise<number> {
  return showBudgets((await dataOf(client.api.GET("/budgets"))).items, options);
}

export async function showBudget({ client }: RemoteParts, id: string, options: CommonOptions): Promise<number> {
  return showOneBudget(await dataOf(client.api.GET("/budgets/{id}", byId(id))), options);
}

export async function setBudget({ client }: RemoteParts, options: SetBudgetOptions): Promise<number> {
  return showSetBudget(await dataOf(client.api.POST("/budgets", { body: given(toBudget(options)) })), options);
}

export async function removeBudget({ client }: RemoteParts, id: string, options: CommonOptions): Promise<number> {
  await dataOf(client.api.DELETE("/budgets/{id}", byId(id)));
  return showRemovedBudget(id, options);
}
