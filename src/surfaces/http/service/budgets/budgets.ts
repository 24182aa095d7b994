import { z } from "zod";
import { TENANT_ID, TENANT_ID_RULE } from "../../../../operations/application/tenant-id.ts";
import { listBudgets, removeBudget, setBudget, showBudget } from "../../../../operations/costs/shared-budgets.ts";
import { listOf, timeSchema } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";
import { numberedQuery, pageByNumber } from "../page-by-number.ts";

const budgetSchema = z
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

const params = z.object({ id: z.string().min(1).max(200) });

export const setBudgetEndpoint = defineEndpoint({
  method: "POST",
  path: "/budgets",
  id: "setBudget",
  summary: "Set what runs of a workflow, a tenant or everybody may use together; set again, it is changed",
  tag: "budgets",
  scope: "admin",
  body: z
    .strictObject({
      workflow: z
        .string()
        .regex(/^\P{Cc}{1,200}$/u, "has 1 to 200 characters that can be seen")
        .optional()
        .describe("By name. Absent: of every workflow."),
      tenant_id: z.string().regex(TENANT_ID, TENANT_ID_RULE).optional(),
      per: z.enum(["day", "total"]).default("day"),
      max_cost_usd: z.number().min(0).max(1_000_000).optional(),
      max_tokens: z.number().int().min(0).max(1_000_000_000_000).optional(),
      max_steps: z.number().int().min(0).max(1_000_000_000).optional(),
      max_seconds: z.number().min(0).max(1_000_000_000).optional(),
      on_exceeded: z.enum(["stop", "ask"]).default("stop"),
      webhook: z
        .url({ protocol: /^https?$/ })
        .max(2_000)
        .optional()
        .describe("Is told when 80 % are used."),
    })
    .refine(
      (body) =>
        [body.max_cost_usd, body.max_tokens, body.max_steps, body.max_seconds].some((limit) => limit !== undefined),
      { message: "limits nothing: give some of `max_cost_usd`, `max_tokens`, `max_steps`, `max_seconds`" },
    ),
  answer: budgetSchema,
  async handle({ app, body }) {
    return { data: await setBudget(app, body) };
  },
});

export const listBudgetsEndpoint = defineEndpoint({
  method: "GET",
  path: "/budgets",
  id: "listBudgets",
  summary: "List budgets and how much of them is used",
  tag: "budgets",
  scope: "read",
  query: z.strictObject(numberedQuery),
  answer: listOf(budgetSchema),
  async handle({ app, query }) {
    return pageByNumber(await listBudgets(app), query);
  },
});

export const getBudgetEndpoint = defineEndpoint({
  method: "GET",
  path: "/budgets/{id}",
  id: "getBudget",
  summary: "Show a budget and how much of it is used",
  tag: "budgets",
  scope: "read",
  params,
  answer: budgetSchema,
  async handle({ app, params: { id } }) {
    return { data: await showBudget(app, id) };
  },
});

export const removeBudgetEndpoint = defineEndpoint({
  method: "DELETE",
  path: "/budgets/{id}",
  id: "removeBudget",
  summary: "Remove a budget, with what was counted",
  tag: "budgets",
  scope: "admin",
  params,
  answer: z.object({ budget_id: z.string() }),
  async handle({ app, params: { id } }) {
    await removeBudget(app, id);
    return { data: { budget_id: id } };
  },
});
