import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { Changes, ScheduleSettings, SlotRecord, StoredSchedule } from "../../ports/service/schedules.ts";
import type { Place, Ports } from "../application/ports.ts";
import { aliasOf, type Frozen, jsonObjectSchema, timeSchema } from "../schemas.ts";
import { type FireTimes, openFireTimes, openZonedTime } from "./fire-times.ts";
import { showNotify } from "./schedule-notify.ts";

export type ScheduleApplication = Pick<Ports, "service" | "clock" | "mask" | "tenantId">;

const cron = z.string().min(1).max(200).describe("Five fields, for example `0 6 * * 1-5`.");
const overlap = z.enum(["skip", "queue", "cancel_previous"]);
const catchUp = z.enum(["none", "one", "all"]);

/** The settings as requests name them. */
export const settingsShape = {
  cron: cron.optional(),
  cron_expression: aliasOf("cron", cron),
  timezone: z.string().min(1).max(100).optional().describe("A name of the IANA database; UTC by default."),
  input: jsonObjectSchema.optional().describe("The input of its runs."),
  input_data: aliasOf("input", jsonObjectSchema),
  notify: jsonObjectSchema
    .nullable()
    .optional()
    .describe(
      'Whom to tell what became of its runs: `{on?: "always" | "failure" | "success", webhook?: {url}, slack?: {url}, email?: {to}}`. Null: no one is told.',
    ),
  enabled: z.boolean().optional().describe("Whether it fires."),
  overlap: overlap
    .optional()
    .describe("What becomes of a slot while the run of the slot before is under way; `skip` by default."),
  catch_up: catchUp
    .optional()
    .describe(
      "What becomes of slots that passed while no server ran: none, the last one (default), or the last hundred.",
    ),
  jitter_seconds: z.int().min(0).max(3_600).optional().describe("Its runs start up to this much later."),
};

export type GivenSettings = z.output<z.ZodObject<typeof settingsShape>>;

/** The names of each setting in requests. The last one is its name in answers. */
const NAMES = {
  cron: ["cron", "cron_expression"],
  timezone: ["timezone"],
  input: ["input", "input_data"],
  notify: ["notify"],
  enabled: ["enabled"],
  overlap: ["overlap"],
  catchUp: ["catch_up"],
  jitterSeconds: ["jitter_seconds"],
} as const satisfies { readonly [Field in keyof ScheduleSettings]-?: readonly (keyof GivenSettings)[] };

type ShownName = (typeof NAMES)[keyof ScheduleSettings] extends infer Names
  ? Names extends readonly [...(readonly unknown[]), infer Last extends string]
    ? Last
    : never
  : never;

/** A name of `settingsShape` that no setting has is a name that would be ignored. */
type Ignored = Exclude<keyof GivenSettings, (typeof NAMES)[keyof ScheduleSettings][number]>;

export function toSettings(given: GivenSettings & { readonly [Name in Ignored]: never }): Changes<ScheduleSettings> {
  const settings: Record<string, unknown> = {};
  for (const [field, names] of Object.entries<readonly (keyof GivenSettings)[]>(NAMES))
    for (const name of names) if (given[name] !== undefined) settings[field] = given[name];
  return settings;
}

const shownSettings = {
  cron_expression: z.string(),
  timezone: z.string(),
  input_data: jsonObjectSchema,
  notify: jsonObjectSchema.nullable().describe("Without what gives access."),
  enabled: z.boolean(),
  overlap,
  catch_up: catchUp,
  jitter_seconds: z.int(),
} satisfies { readonly [Name in ShownName]: z.ZodType };

export const scheduleSchema = z
  .object({
    schedule_id: z.string(),
    workflow_name: z.string(),
    ...shownSettings,
    disabled_reason: z.enum(["paused", "definition_removed"]).nullable(),
    source: z
      .enum(["api", "definition", "saved"])
      .describe("`definition`: it follows the file of its workflow; `saved`: the newest version that was saved."),
    tenant_id: z.string().nullable(),
    last_run_id: z.string().nullable(),
    next_fire_at: timeSchema.nullable().describe("Null: it is disabled, or it never fires again."),
    next_fire_times: z.array(z.string()).describe("The next five, as the clocks of its zone show them."),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: "Schedule", description: "What starts a workflow by the clock." });

export type ScheduleDescription = Frozen<z.output<typeof scheduleSchema>>;

export const slotSchema = z
  .object({
    slot: timeSchema,
    kind: z.enum(["cron", "manual", "change"]),
    state: z.enum(["claimed", "queued", "started", "skipped"]),
    reason: z.string().nullable(),
    message: z.string().nullable(),
    run_id: z.string().nullable(),
    last_slot: timeSchema.nullable(),
    count: z.int().describe("How many slots in a row this tells of, at least."),
    recorded_at: timeSchema,
  })
  .meta({ id: "ScheduleSlot", description: "What became of a slot." });

export type SlotDescription = Frozen<z.output<typeof slotSchema>>;

const SHOWN_TIMES = 5;

/** By its id, or by a beginning of it that no other has. Throws `SCHEDULE_NOT_FOUND`, also where it is another tenant's. */
export async function findSchedule(app: ScheduleApplication, id: string): Promise<StoredSchedule> {
  const { tenantId } = app;
  const { schedules } = await app.service();
  const exact = await schedules.find(id);
  if (exact !== undefined && (tenantId === undefined || exact.tenantId === tenantId)) return exact;
  const own = id === "" ? [] : await schedules.list(tenantId === undefined ? {} : { tenantId });
  const [first, ...others] = own.filter((schedule) => schedule.id.startsWith(id));
  if (first !== undefined && others.length === 0) return first;
  throw new PawlError("SCHEDULE_NOT_FOUND", { message: `There is no schedule "${id}".` });
}

export async function describeSchedule(
  { clock, mask }: Pick<Place, "clock" | "mask">,
  schedule: StoredSchedule,
): Promise<ScheduleDescription> {
  const { enabled, nextFireAt } = schedule;
  return {
    schedule_id: schedule.id,
    workflow_name: schedule.workflow,
    cron_expression: schedule.cron,
    timezone: schedule.timezone,
    input_data: schedule.input,
    notify: showNotify(schedule.notify, mask),
    enabled,
    disabled_reason: schedule.disabledReason ?? null,
    overlap: schedule.overlap,
    catch_up: schedule.catchUp,
    jitter_seconds: schedule.jitterSeconds,
    source: schedule.source,
    tenant_id: schedule.tenantId ?? null,
    last_run_id: schedule.lastRunId ?? null,
    next_fire_at: enabled && nextFireAt !== undefined ? toIsoTime(nextFireAt) : null,
    next_fire_times: await nextTimesOf(schedule, clock.now()),
    created_at: toIsoTime(schedule.createdAt),
    updated_at: toIsoTime(schedule.updatedAt),
  };
}

/** The next times. A disabled schedule has them as if it were enabled. */
async function nextTimesOf(schedule: StoredSchedule, now: number): Promise<readonly string[]> {
  const times = await openFireTimes(schedule);
  const { enabled, nextFireAt, timezone } = schedule;
  return showNextTimes(times, timezone, enabled && nextFireAt !== undefined ? nextFireAt : times.next(now));
}

/** Five slots from the first on, as the clocks of their zone show them. */
export function showNextTimes(times: FireTimes, timezone: string, first: number | undefined): readonly string[] {
  const show = openZonedTime(timezone);
  const shown: string[] = [];
  for (let slot = first; slot !== undefined && shown.length < SHOWN_TIMES; slot = times.next(slot)) {
    shown.push(show(slot));
  }
  return shown;
}

export function describeSlot({ slot, kind, outcome, lastSlot, count = 1, at }: SlotRecord): SlotDescription {
  return {
    slot: toIsoTime(slot),
    kind,
    state: outcome.state,
    reason: outcome.state === "skipped" ? outcome.reason : null,
    message: outcome.state === "skipped" ? (outcome.message ?? null) : null,
    run_id: outcome.state === "started" ? outcome.runId : null,
    last_slot: lastSlot === undefined ? null : toIsoTime(lastSlot),
    count,
    recorded_at: toIsoTime(at),
  };
}
