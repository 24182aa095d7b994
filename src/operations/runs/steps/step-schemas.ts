import { z } from "zod";
import { placeSchema, stepKindSchema } from "../../definitions/explain/graph-schemas.ts";
import { atMostSchema, errorSchema, type Frozen, jsonObjectSchema, jsonSchema, timeSchema } from "../../schemas.ts";
import { runStatusSchema, stepStatusSchema, violationSchema } from "../run-schemas.ts";

const count = z.number().int();

const sizeSchema = count
  .nullable()
  .describe(
    "Of JSON as text. Above 65,536 the value is left out unless `whole` is given. Null: too many values to count.",
  );

const attemptSchema = z
  .object({
    attempt: count.describe("As events and logs name it."),
    status: z
      .enum(["running", "completed", "failed", "interrupted", "asked", "cancelled"])
      .describe("`interrupted`: the process that did it has ended. `asked`: it has ended with a question to a person."),
    queued_at: timeSchema.describe("Since then only a free place, money or its executor was missing."),
    started_at: timeSchema.nullable().describe("Its executor has it."),
    waited_seconds: z
      .number()
      .describe("Of the time since: its calls waited for a free place at a server. 0 until it has ended."),
    ended_at: timeSchema.nullable(),
    error_code: z.string().nullable(),
    cost_usd: z.number().nullable().describe("As far as it is known. Null: the price is unknown."),
    usage: jsonObjectSchema.describe("What models and tools have counted: tokens, turns, searches."),
    reused_from: z.string().optional().describe("The run that its outcome was taken over from: nothing was done."),
  })
  .meta({ id: "StepAttempt", description: "One attempt of a task." });

const waitSchema = z
  .object({
    kind: z
      .enum(["retry", "timer", "event", "person", "held"])
      .describe("`held`: until a person resumes the run, since the step took its process down."),
    since: timeSchema,
    until: timeSchema.nullable().describe("Null: it still waits."),
    wake_at: timeSchema.nullable().describe("When time alone ends it. Null: only something else does."),
    event: z.string().optional().describe("The name of the event that it waits for."),
  })
  .meta({ id: "StepWait", description: "A time in which a step rests." });

const itemsSchema = z
  .object({
    total: count.nullable().describe("Null: not yet known."),
    by_status: z.partialRecord(stepStatusSchema, count).describe("A status that no item has is left out."),
  })
  .meta({ id: "StepItems", description: "The items of a fan-out." });

const stepSpanSchema = z
  .object({
    path: z
      .string()
      .describe(
        "Its address: `score`, `batch[2]/fetch[7]`, `poll#7`. A fan-out has the address of its items without a number.",
      ),
    parent: z.string().nullable().describe("The instance whose flow it is in. Null: the flow of the run."),
    step_id: z.string(),
    parallel_index: count.nullable().describe("Which item it is. Null: none."),
    visit: count.nullable().describe("Which visit of a machine's step it is, from 1. Null: it stands in a dag."),
    kind: stepKindSchema.describe("As `graph` names it."),
    executor: z.string().nullable().describe("Who does the work of a task. Null: it is none."),
    description: z.string().nullable(),
    status: stepStatusSchema.describe(
      "A fan-out has the status of the items that need most attention while one goes on; then `failed` if one has failed, else `completed`.",
    ),
    attempt: count.describe("How often it was tried, for people; 0: not yet."),
    queued_at: timeSchema.nullable().describe("Its turn came. Null: it has not come."),
    started_at: timeSchema.nullable(),
    completed_at: timeSchema.nullable(),
    duration_seconds: z.number().nullable(),
    cost_usd: z.number().nullable().describe("With all that is inside it. Null: the price of something is unknown."),
    cost_usd_at_most: atMostSchema,
    usage: jsonObjectSchema.describe("Over all its attempts, without what is inside it."),
    error: errorSchema.nullable().describe("A fan-out has the error of its first failed item."),
    items: itemsSchema.nullable().describe("Null: it is no fan-out, but one instance."),
    inside: count.describe("How many instances have begun in its flow, its `catch` and its `finally`."),
    called: z
      .object({ workflow: z.string(), graph: z.string() })
      .nullable()
      .describe("The workflow that a call has called. `GET /runs/{id}/graph/explained?called=` tells what it does."),
    attempts: z.array(attemptSchema).describe("Of a task, oldest first."),
    waits: z.array(waitSchema).describe("Oldest first."),
  })
  .meta({
    id: "StepSpan",
    description: "An instance of a step in time, or a fan-out as one, without what it was given and gave.",
  });

const asOfFields = {
  run_id: z.string(),
  status: runStatusSchema.describe("That of the run, as of the event."),
  as_of: count.describe("The number of the last event that counts here."),
  last_seq: count.describe("The number of the run's newest event."),
  at: timeSchema.describe("The time of the last event that counts here."),
};

export const stepSpansSchema = z
  .object({
    ...asOfFields,
    items: z
      .array(stepSpanSchema)
      .describe(
        "As the graph has them, whether they have begun or not, each before what is inside it; visits of a machine as they came.",
      ),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: "StepSpans", description: "A page of the steps of a run, as of an event." });

export const stepDetailSchema = stepSpanSchema
  .extend({
    run_id: z.string(),
    run_status: runStatusSchema,
    as_of: asOfFields.as_of,
    last_seq: asOfFields.last_seq,
    at: asOfFields.at,
    place: placeSchema.nullable().describe("Where the definition has it. Null: unknown."),
    graph: z.string().describe("The graph that it stands in, for `GET /runs/{id}/graph/explained?called=`."),
    input: jsonSchema
      .optional()
      .describe(
        "What its latest attempt was given, a call its workflow, or a person was shown, with secrets masked. Null: nothing is on record. Absent: see `input_bytes`.",
      ),
    input_bytes: sizeSchema,
    input_prompt: z
      .string()
      .nullable()
      .describe("The prompt as its executor has sent it. Null: it has none, or it is as large as the input is."),
    output_data: jsonSchema.optional().describe("Null where it has not completed. Absent: see `output_bytes`."),
    output_bytes: sizeSchema,
    attempts: z.array(
      attemptSchema
        .extend({
          error: errorSchema.nullable().describe("In full."),
          details: jsonSchema
            .optional()
            .describe("What else its executor said of the failure. Absent: nothing, or too much."),
        })
        .meta({ id: "StepAttemptDetail" }),
    ),
    missing: z.array(z.string()).describe("References of its input that led nowhere, or to null, as they are written."),
    violations: z.array(violationSchema).describe("What policies had to say, over all its attempts."),
  })
  .meta({ id: "StepDetail", description: "An instance of a step, or a fan-out, with what it was given and gave." });

export type StepAttempt = Frozen<z.output<typeof attemptSchema>>;
export type StepWait = Frozen<z.output<typeof waitSchema>>;
export type StepSpan = Frozen<z.output<typeof stepSpanSchema>>;
export type StepDetail = Frozen<z.output<typeof stepDetailSchema>>;
export type StepSpansPage = Frozen<z.output<typeof stepSpansSchema>>;
