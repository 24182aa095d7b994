import { z } from "zod";
import { jsonObjectSchema, timeSchema } from "./common.ts";

const overlapSchema = z
  .enum(["skip", "queue", "cancel_previous"])
  .describe("What becomes of a slot while the run of the one before is under way.");
const catchUpSchema = z
  .enum(["none", "one", "all"])
  .describe("What becomes of slots that passed while nobody served: none, the last one, or the last hundred.");

export const scheduleSchema = z
  .object({
    schedule_id: z.string(),
    workflow_name: z.string(),
    cron_expression: z.string(),
    timezone: z.string(),
    input_data: jsonObjectSchema,
    notify: jsonObjectSchema.nullable().describe("Without what gives access."),
    enabled: z.boolean(),
    disabled_reason: z.enum(["paused", "definition_removed"]).nullable(),
    overlap: overlapSchema,
    catch_up: catchUpSchema,
    jitter_seconds: z.number().int(),
    source: z
      .enum(["api", "definition", "saved"])
      .describe("`definition`: it follows the file of its workflow; `saved`: the newest version that was saved."),
    tenant_id: z.string().nullable(),
    last_run_id: z.string().nullable(),
    next_fire_at: timeSchema.nullable(),
    next_fire_times: z.array(z.string()).describe("The next five, as the clocks of its zone show them."),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: "Schedule", description: "What starts a workflow by the clock." });

export const slotSchema = z
  .object({
    slot: timeSchema,
    kind: z.enum(["cron", "manual", "change"]),
    state: z.enum(["claimed", "queued", "started", "skipped"]),
    reason: z.string().nullable(),
    message: z.string().nullable(),
    run_id: z.string().nullable(),
    last_slot: timeSchema.nullable(),
    count: z.number().int().describe("How many slots in a row this tells of, at least."),
    recorded_at: timeSchema,
  })
  .meta({ id: "ScheduleSlot", description: "What became of a slot." });

const fields = {
  cron: z.string().min(1).max(200).optional(),
  cron_expression: z.string().min(1).max(200).optional(),
  timezone: z.string().min(1).max(100).optional().describe("A name of the IANA database; UTC where there is none."),
  input: jsonObjectSchema.optional(),
  input_data: jsonObjectSchema.optional(),
  notify: jsonObjectSchema
    .nullable()
    .optional()
    .describe(
      '`{on?: "always" | "failure" | "success", webhook?: {url}, slack?: {url}, email?: {to}}`: whom to tell what became of its runs.',
    ),
  enabled: z.boolean().optional(),
  overlap: overlapSchema.optional(),
  catch_up: catchUpSchema.optional(),
  jitter_seconds: z.number().int().min(0).max(3_600).optional(),
};

interface Spelled {
  readonly cron?: string | undefined;
  readonly cron_expression?: string | undefined;
  readonly input?: unknown;
  readonly input_data?: unknown;
}

const ONE_INPUT = { message: "`input` and `input_data` are two names of the same: send one" };

function hasOneInput({ input, input_data: inputData }: Spelled): boolean {
  return input === undefined || inputData === undefined;
}

/** Both spellings of what two generations of clients send. */
export const newScheduleSchema = z
  .strictObject({
    workflow: z.string().min(1).max(200).optional().describe("A registered name."),
    workflow_name: z.string().min(1).max(200).optional(),
    ...fields,
  })
  .refine((body) => (body.workflow === undefined) !== (body.workflow_name === undefined), {
    message: "exactly one of `workflow` and `workflow_name` must be there",
  })
  .refine((body) => (body.cron === undefined) !== (body.cron_expression === undefined), {
    message: "exactly one of `cron` and `cron_expression` must be there",
  })
  .refine(hasOneInput, ONE_INPUT)
  .meta({ id: "NewSchedule" });

export const scheduleChangeSchema = z
  .strictObject(fields)
  .refine((body) => body.cron === undefined || body.cron_expression === undefined, {
    message: "`cron` and `cron_expression` are two names of the same: send one",
  })
  .refine(hasOneInput, ONE_INPUT)
  .meta({ id: "ScheduleChange" });

export type ScheduleFields = z.output<typeof scheduleChangeSchema>;
