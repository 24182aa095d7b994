import { z } from "zod";
import { jsonObjectSchema } from "../schemas.ts";
import { partSchema } from "../start/submission-schema.ts";

const assumptionsSchema = z.object({
  output_tokens: z.number(),
  value_tokens: z.number(),
  tool_tokens: z.number(),
  overhead_tokens: z.number(),
  bytes_per_token: z.number(),
});

const tokens = z.number().int().min(0).max(10_000_000).optional();

export const planRequestSchema = z
  .strictObject({
    workflow: z.string().min(1).describe("A registered name, or the text of a definition."),
    part: partSchema.optional(),
    input: jsonObjectSchema.optional().describe("The input of the run."),
    max_cost_usd: z.number().positive().max(1_000_000).optional().describe("The budget that the run would have."),
    agent: z.enum(["sandstorm", "inline", "simulated"]).optional().describe("Who would answer agent steps."),
    assume: z
      .strictObject({
        output_tokens: tokens,
        value_tokens: tokens,
        tool_tokens: tokens,
        overhead_tokens: tokens,
        bytes_per_token: z.number().min(1).max(100).optional(),
      })
      .optional()
      .describe("What is taken for what nobody can know before a run."),
  })
  .meta({ id: "PlanRequest" });

const costSchema = z.object({
  is: z.enum(["bounded", "unpriced", "unbounded", "simulated", "none"]),
  usd: z.number().nullable().describe("`null`: not known. Never 0 for it."),
  because: z.string().optional(),
});

const stepSchema = z.object({
  step: z.string(),
  kind: z.enum(["task", "flow", "call", "wait", "approve", "set", "respond"]),
  executor: z.string().nullable(),
  instances: z.object({
    is: z.enum(["exact", "at_most", "unknown"]),
    count: z.number().nullable(),
    because: z.string().optional(),
  }),
  max_concurrent: z.number().nullable(),
  attempts: z.number(),
  max_turns: z.number().nullable(),
  model: z.string().nullable(),
  price: z.object({
    is: z.enum(["priced", "unpriced", "simulated", "none"]),
    input: z.number().nullable().describe("US dollars for a million tokens."),
    output: z.number().nullable(),
  }),
  tokens: z.object({ calls: z.number(), first_input: z.number().nullable(), output: z.number() }).nullable(),
  attempt_usd: z.number().nullable(),
  max_cost_usd: z.number().nullable(),
  cost: costSchema,
});

export const planSchema = z
  .object({
    workflow: z.string(),
    dialect: z.string(),
    agent: z.string().nullable(),
    steps: z.array(stepSchema),
    total: costSchema.extend({ known_usd: z.number(), at_most_usd: z.number().nullable() }),
    budgets: z.array(
      z.object({
        budget: z.string(),
        limit_usd: z.number(),
        from: z.enum(["request", "definition"]),
        stops: z.enum(["no", "at_worst", "unknown"]),
      }),
    ),
    limits: z
      .object({
        max_tokens: z.number().optional(),
        max_steps: z.number().optional(),
        max_seconds: z.number().optional(),
        on_exceeded: z.enum(["stop", "ask"]),
      })
      .optional()
      .describe("Beside money."),
    assumptions: assumptionsSchema,
    warnings: z.array(z.string()),
  })
  .meta({ id: "Plan" });
