import { z } from "zod";
import { RUN_STATUSES } from "../../ports/journal.ts";
import { atMostSchema, errorSchema, type Frozen, jsonObjectSchema, jsonSchema, timeSchema } from "../schemas.ts";
import { storedFileSchema } from "../storage/stored-files.ts";

export const runStatusSchema = z.enum(RUN_STATUSES);

export const stepStatusSchema = z.enum([
  "pending",
  "running",
  "retrying",
  "waiting",
  "awaiting_approval",
  "held",
  "completed",
  "failed",
  "skipped",
  "cancelled",
]);

export const runSummarySchema = z
  .object({
    run_id: z.string(),
    workflow_name: z.string(),
    dialect: z.string(),
    status: runStatusSchema,
    total_cost_usd: z.number(),
    cost_usd_at_most: atMostSchema,
    error: errorSchema.nullable(),
    not_driven: z
      .literal(true)
      .optional()
      .describe("It should go on, and no process drives it. Absent: one does, or it waits or has ended."),
    budget_wait: z
      .object({
        says: z.string(),
        needs_usd: z.number().nullable().describe("The most that the call costs. Null: it waits for no money."),
        held_usd: z.number().describe("What attempts under way will likely take of it."),
        held_by: z.number().int().describe("How many runs these attempts are of."),
        holders: z.array(z.string()).optional().describe("Some of these runs, as far as the caller may see them."),
      })
      .optional()
      .describe("What its first attempt in line waits for. Absent: none waits for a budget."),
    parent_run_id: z.string().nullable(),
    tenant_id: z.string().nullable(),
    created_at: timeSchema,
    started_at: timeSchema.nullable(),
    completed_at: timeSchema.nullable(),
  })
  .meta({ id: "RunSummary", description: "A run without its contents." });

export const violationSchema = z
  .object({
    policy: z.string(),
    action: z.enum(["redact", "block", "approve", "alert"]).describe("What was done about it."),
    found: z.record(z.string(), z.number().int()).optional().describe("How often, by what was looked for."),
    why: z.string(),
  })
  .meta({ id: "Violation", description: "A policy that held of an output. What was found is counted, never told." });

const bytesSchema = z.number().int().optional().describe("About its length as JSON, where it is left out here.");

const refSchema = z
  .string()
  .optional()
  .describe(
    "The route where the value is, which is left out here: it has more than 64 KiB, or all have more than 16 MiB.",
  );

const stepSchema = z
  .object({
    path: z.string().describe("Its address, e.g. `enrich[3]`."),
    step_id: z.string(),
    parallel_index: z.number().int().nullable(),
    status: stepStatusSchema,
    attempt: z.number().int(),
    input_prompt: z.string().nullable().describe("Null too where `prompt_ref` says where it is."),
    prompt_bytes: bytesSchema,
    prompt_ref: refSchema,
    output_data: jsonSchema.describe("Null too where `output_ref` says where it is."),
    output_bytes: bytesSchema,
    output_ref: refSchema,
    cost_usd: z.number().nullable().describe("Null: the price is unknown."),
    cost_usd_at_most: atMostSchema,
    unpriced: z.literal(true).optional(),
    usage: jsonObjectSchema,
    duration_seconds: z.number().nullable(),
    error: errorSchema.nullable(),
    missing: z
      .array(z.string())
      .optional()
      .describe(
        "References that led nowhere, as they are written: of its input (in texts also to null), and what conditions compare of its output. Absent: none.",
      ),
    violations: z
      .array(violationSchema)
      .optional()
      .describe("What policies had to say, over all its attempts. Absent: nothing."),
    started_at: timeSchema.nullable(),
    completed_at: timeSchema.nullable(),
  })
  .meta({ id: "Step", description: "An instance of a step." });

const originSchema = z
  .object({
    run_id: z.string(),
    from_path: z.string().describe("The step from which it was done again; empty: all of it."),
    changes: jsonObjectSchema.optional().describe("What a fork does differently; of the input only the names."),
    deleted: z.literal(true).optional().describe("It was deleted since."),
  })
  .meta({ id: "Origin", description: "The run that this one repeats." });

const repetitionSchema = z
  .object({
    run_id: z.string(),
    kind: z.enum(["rerun", "fork"]),
    from_path: z.string(),
    status: runStatusSchema,
    created_at: timeSchema,
  })
  .meta({ id: "Repetition", description: "A run that repeats this one." });

export const runSchema = runSummarySchema
  .extend({
    failed_path: z
      .string()
      .nullable()
      .optional()
      .describe("The step whose failure has ended it. Null: it failed outside of any step. Absent: it has no failure."),
    rerun_of: originSchema.nullable(),
    forked_from: originSchema.nullable(),
    reruns: z.array(repetitionSchema).describe("Newest first, at most 50."),
    input_data: jsonSchema.describe("Null where `input_ref` says where it is."),
    input_bytes: bytesSchema,
    input_ref: refSchema,
    outputs: jsonSchema.describe("Null where `outputs_ref` says where they are."),
    outputs_bytes: bytesSchema,
    outputs_ref: refSchema,
    usage: jsonObjectSchema,
    unpriced: z.literal(true).optional().describe("The total is a lower bound."),
    limits: z
      .array(
        z.object({
          of: z.enum(["cost_usd", "tokens", "steps", "seconds"]),
          limit: z.number(),
          used: z.number(),
          is: z.enum(["ok", "near", "used_up"]).describe("`near`: 80 % are used."),
        }),
      )
      .optional()
      .describe("Absent: it has none."),
    place_wait: z
      .object({
        says: z.string(),
        holders: z.array(z.string()).optional().describe("Some of the runs that have the places."),
        before: z.number().int().optional().describe("How many runs are before it."),
      })
      .optional()
      .describe(
        "It is in line for a place of its key, by `concurrency` of its workflow, or for its turn, by `rate`: then with `says` alone.",
      ),
    capacity_waits: z
      .array(
        z.object({
          pool: z.string().describe("The origin of an agent server, or `provider:model`."),
          in_flight: z.number().int().describe("Calls of all runs that it works on."),
          width: z.number().int().describe("How many it takes at once, as far as is known."),
          waiting: z.number().int().describe("Calls of this run that wait."),
          waiting_in_all: z.number().int().describe("With those of other runs, which are served in turn."),
          closed_until: z
            .string()
            .nullable()
            .describe("It refuses all calls, and is asked again at this time. Null: it does not."),
        }),
      )
      .optional()
      .describe("What calls of its steps wait for. Absent: none waits."),
    invocation: z
      .object({
        id: z.string(),
        status: z.enum(["paused", "killed", "backing-off"]),
        retries: z.int(),
        failure: z.string().nullable().describe("Of the last try."),
      })
      .optional()
      .describe("What keeps Restate from going on with it. Absent: nothing is known to."),
    missing: z
      .array(z.string())
      .optional()
      .describe("What conditions compare of its input, and it has not, as it is written. Absent: nothing."),
    awaited_events: z.array(z.string()).optional().describe("Names of the events that it waits for. Absent: none."),
    steps: z.array(stepSchema),
    artifacts: z.array(storedFileSchema).optional().describe("Files that it has produced. Absent: not asked for."),
  })
  .meta({ id: "Run", description: "A run with its steps." });

export const acceptedRunSchema = z
  .object({
    run_id: z.string(),
    status: runStatusSchema,
    warnings: z
      .array(jsonObjectSchema)
      .optional()
      .describe("What is doubtful in the definition of a new run, with its place."),
  })
  .meta({ id: "AcceptedRun", description: "It is recorded, and goes on by itself." });

export type ErrorDescription = Frozen<z.output<typeof errorSchema>>;

/** A run without its contents, as lists show it. The names are those of the seed's table `runs`. */
export type RunSummary = Frozen<z.output<typeof runSummarySchema>>;

/** From which run this one comes, and which come from it. */
export type LineageDescription = Pick<RunDescription, "rerun_of" | "forked_from" | "reruns">;

/** Everything about a run but its steps. */
export type RunHead = Omit<RunDescription, "steps" | "artifacts" | keyof LineageDescription>;

export type RunDescription = Frozen<z.output<typeof runSchema>>;

/** A step instance, with the names of the seed's table `run_steps`. */
export type StepDescription = RunDescription["steps"][number];

export type StepStatus = StepDescription["status"];
