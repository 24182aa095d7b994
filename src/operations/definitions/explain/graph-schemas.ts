import { z } from "zod";
import { type Frozen, jsonObjectSchema } from "../../schemas.ts";

const count = z.number().int();

/** A place in the text of a definition. */
export const placeSchema = z
  .object({ file: z.string().optional(), line: count, column: count })
  .meta({ id: "SourcePlace", description: "A place in the text of a definition. Lines and columns start at 1." });

export const stepKindSchema = z.enum(["task", "flow", "call", "wait", "approve", "set", "respond"]);

const transitionSchema = z
  .object({
    on: z.enum(["success", "failure", "any"]).describe("The outcome that it belongs to."),
    when: z.string().optional().describe("Absent: always."),
    to: z.string().describe("The id of a step; where it ends the flow, `end (success)` or `end (failure)`."),
    ends: z.enum(["success", "failure"]).optional().describe("How it ends the flow. Absent: it goes to a step."),
  })
  .meta({
    id: "TransitionExplanation",
    description: "Where a machine goes from a step. The first that holds is taken.",
  });

const flowFields = z.object({
  kind: z
    .enum(["dag", "machine"])
    .describe("`dag`: a step starts when all of `after` have ended. `machine`: along `transitions`."),
  start: z.string().optional().describe("Of a machine: the step that is visited first."),
  ambiguous: z
    .object({ step: z.string(), field: z.string() })
    .optional()
    .describe(
      "The step for which two fan-outs could give the item that it names. With such an input the run would fail.",
    ),
});

const stepFields = z.object({
  id: z.string(),
  kind: stepKindSchema,
  executor: z.string().optional().describe("Who does the work of a task."),
  description: z.string().optional(),
  says: z.string().optional().describe("What it is in the words of its file, where the kind does not tell."),
  place: placeSchema
    .optional()
    .describe("Absent: the file has no such step, and it was made for one that has; or the file knows no places."),
  after: z.array(z.string()).describe("In a dag: the ids of the steps that must have ended before."),
  fan_out: z
    .object({ over: z.string(), max_concurrent: count })
    .optional()
    .describe("The step opens a fan-out of its own."),
  follows: z.string().optional().describe("The step runs once per item of this step's fan-out."),
  when: z.string().optional().describe("Where this is false the step is skipped."),
  retry: z
    .object({
      max_attempts: count.describe("The first one included."),
      backoff: z.enum(["fixed", "linear", "exponential"]),
      first_delay_seconds: z.number(),
    })
    .optional(),
  timeout_seconds: z.number().optional(),
  on_failure: z.enum(["abort", "skip", "continue", "catch"]),
  at_most_once: z.literal(true).optional(),
  max_cost_usd: z.number().optional(),
  calls: z.string().optional().describe("The workflow of a call."),
  waits: z.string().optional().describe("What a wait waits for."),
  approval: z
    .object({
      message: z.string(),
      allow_edit: z.boolean(),
      timeout_seconds: z.number().optional(),
      on_timeout: z.enum(["abort", "skip"]).optional(),
      people: z.array(z.string()).optional().describe("Who may answer, and who is told when nobody does."),
    })
    .optional(),
  transitions: z.array(transitionSchema).optional().describe("In a machine."),
});

// Written out, since no type can be inferred from two schemas that name one another.

export interface FlowExplanation extends Frozen<z.output<typeof flowFields>> {
  readonly steps: readonly StepExplanation[];
}

export interface StepExplanation extends Frozen<z.output<typeof stepFields>> {
  readonly flow?: FlowExplanation | undefined;
  readonly catch?: FlowExplanation | undefined;
  readonly finally?: FlowExplanation | undefined;
}

const flowSchema: z.ZodType<FlowExplanation, FlowExplanation> = flowFields
  .extend({
    get steps() {
      return z.array(stepSchema);
    },
  })
  .meta({ id: "FlowExplanation", description: "Steps with an order, listed in one in which they can run." });

const stepSchema: z.ZodType<StepExplanation, StepExplanation> = stepFields
  .extend({
    get flow() {
      return flowSchema.optional();
    },
    get catch() {
      return flowSchema.optional();
    },
    get finally() {
      return flowSchema.optional();
    },
  })
  .meta({ id: "StepExplanation" });

export const startFields = {
  schedule: z.string().optional(),
  starts_by: z.array(z.string()).optional().describe("What starts it by itself, where the engine serves."),
  runs: z.array(z.string()).optional().describe("How its runs wait for one another."),
};

/** The answer of `pawl graph`, and what pages draw. */
export const useLimitsSchema = z.object({
  max_tokens: z.number().optional(),
  max_steps: z.number().optional(),
  max_seconds: z.number().optional(),
  on_exceeded: z.enum(["stop", "ask"]),
});

export const graphExplanationSchema = z
  .object({
    name: z.string(),
    dialect: z.string(),
    description: z.string().optional(),
    input: z.object({
      declared: z.array(z.string()),
      required: z.array(z.string()),
      defaults: jsonObjectSchema,
    }),
    assumed_item_fields: z
      .array(z.string())
      .describe("Names that were taken for fields of an item since the input is not known to have them."),
    flow: flowSchema,
    max_cost_usd: z.number().optional(),
    limits: useLimitsSchema.optional().describe("Beside money."),
    timeout_seconds: z.number().optional(),
    ...startFields,
    storage_path: z.string().optional(),
    dead_letter: z.literal(true).optional(),
  })
  .meta({ id: "GraphExplanation", description: "What a workflow does, in which order." });

export type GraphExplanation = Frozen<z.output<typeof graphExplanationSchema>>;
