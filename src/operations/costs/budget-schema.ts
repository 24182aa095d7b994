import { z } from "zod";
import { timeSchema } from "../schemas.ts";

export const reservedSchema = z
  .object({
    usd: z.number().describe("What attempts under way will likely take, beside what is used."),
    runs: z.number().int().describe("How many runs these attempts are of."),
    waiting: z.number().int().describe("How many runs wait for it."),
  })
  .describe("As the process knows it that drives the runs.");

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
    reserved: reservedSchema,
    unpriced: z.boolean().describe("Something had no known price: the cost is a lower bound."),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: "Budget", description: "What runs may use together." });

export type BudgetDescription = z.output<typeof budgetSchema>;
