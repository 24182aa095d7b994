import { z } from "zod";
import { startFields, useLimitsSchema } from "../definitions/explain/graph-schemas.ts";
import { problemsSchema } from "../definitions/workflow-schemas.ts";
import { type Frozen, jsonObjectSchema } from "../schemas.ts";
import { partSchema } from "../start/submission-schema.ts";

/** Assumed numbers of tokens, where a definition sets no limit and a value is not known before a run. */
const assumptionsSchema = z.object({
  // For one answer of a model without `max_tokens`.
  output_tokens: z.number(),
  // For a value that is not known yet: an output of code or a tool, a variable.
  value_tokens: z.number(),
  // For the result of a tool, which each turn adds to an agent's conversation.
  tool_tokens: z.number(),
  // For instructions and descriptions of tools around a prompt.
  overhead_tokens: z.number(),
  // Of UTF-8. Fewer make a plan dearer.
  bytes_per_token: z.number(),
});

export type Assumptions = Frozen<z.output<typeof assumptionsSchema>>;

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
      .describe("Assumptions about what is unknown before a run."),
  })
  .meta({ id: "PlanRequest" });

/** `none`: no model is asked. `unpriced`: nobody knows its price. `unbounded`: nothing limits how much it is. */
const costSchema = z.object({
  is: z.enum(["bounded", "unpriced", "unbounded", "simulated", "none"]),
  usd: z.number().nullable().describe("`null`: not known. Never 0 for it."),
  because: z.string().optional(),
});

export type PlannedCost = Frozen<z.output<typeof costSchema>>;

/** A step of a plan. Everything that is not known says so; `usd` is `null` then, never 0. */
const stepSchema = z.object({
  // `outer/inner`; `~catch` and `~finally` as in paths of runs.
  step: z.string(),
  kind: z.enum(["task", "flow", "call", "wait", "approve", "set", "respond"]),
  executor: z.string().nullable(),
  answered_by: z
    .string()
    .nullable()
    .describe("`sandstorm`, `model`, `simulated`, `endpoint`, `person`, or the kind of its work. Null: no one."),
  key: z.string().optional().describe("The variable or the setting that holds the key of its model."),
  server: z.string().optional().describe("The address of its model, or its MCP server."),
  tool: z.string().optional(),
  file: z.string().optional().describe("Its script."),
  missing: z.string().optional().describe("Why it would not be answered."),
  instances: z.object({
    is: z.enum(["exact", "at_most", "unknown"]),
    count: z.number().nullable(),
    because: z.string().optional(),
  }),
  follows: z
    .string()
    .optional()
    .describe("The step whose items it runs for, one by one. Absent: it has a list of its own, or none."),
  // For a fan-out: the most instances at once.
  max_concurrent: z.number().nullable(),
  // Tries of one instance, the first included.
  attempts: z.number(),
  max_turns: z.number().nullable(),
  model: z.string().nullable(),
  price: z.object({
    is: z.enum(["priced", "unpriced", "simulated", "none"]),
    input: z.number().nullable().describe("US dollars for a million tokens."),
    output: z.number().nullable(),
  }),
  // Of one attempt.
  tokens: z.object({ calls: z.number(), first_input: z.number().nullable(), output: z.number() }).nullable(),
  attempt_usd: z.number().nullable(),
  // The definition's limit for one instance.
  max_cost_usd: z.number().nullable(),
  cost: costSchema,
});

export type PlannedStep = Frozen<z.output<typeof stepSchema>>;

/** The worst case of a run, from its definition and its input alone. */
export const planSchema = z
  .object({
    workflow: z.string(),
    dialect: z.string(),
    // The provider of agent steps. Null if no step needs one, or none is configured.
    agent: z.string().nullable(),
    ready: z.boolean().describe("False: a run would not begin, for what `problems` say."),
    problems: problemsSchema,
    ...startFields,
    steps: z.array(stepSchema),
    // `at_most_usd`: the least of the worst case and the budgets, where the run ends. Null: nothing ends it.
    total: costSchema.extend({ known_usd: z.number(), at_most_usd: z.number().nullable() }),
    budgets: z.array(
      z.object({
        budget: z.string(),
        limit_usd: z.number(),
        from: z.enum(["request", "definition"]),
        // `at_worst`: the worst case is more than the budget. `unknown`: the worst case is not known.
        stops: z.enum(["no", "at_worst", "unknown"]),
      }),
    ),
    limits: useLimitsSchema.optional().describe("Beside money."),
    capacity: z
      .array(
        z.object({
          pool: z.string().describe("The origin of an agent server, or `provider:model`."),
          steps: z.array(z.string()),
          asks: z
            .number()
            .nullable()
            .describe("The most calls at once that one of the steps may want. Null: not known."),
          at_most: z
            .number()
            .nullable()
            .describe("How many it is sent at once at most, as configured. Null: that is found out while it runs."),
        }),
      )
      .describe("Where calls of fan-outs wait for their turn."),
    assumptions: assumptionsSchema,
    warnings: z.array(z.string()),
  })
  .meta({ id: "Plan" });

export type Plan = Frozen<z.output<typeof planSchema>>;
