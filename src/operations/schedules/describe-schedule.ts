import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { JsonObject } from "../../core/json.ts";
import type { DisabledReason, SlotRecord, StoredSchedule } from "../../ports/schedules.ts";
import type { Application } from "../application/application.ts";
import { openFireTimes } from "./fire-times.ts";
import { showNotify } from "./schedule-notify.ts";
import { openZonedTime } from "./zoned-time.ts";

export type ScheduleApplication = Pick<Application, "service" | "clock" | "mask" | "tenantId">;

export interface ScheduleDescription {
  readonly schedule_id: string;
  readonly workflow_name: string;
  readonly cron_expression: string;
  readonly timezone: string;
  readonly input_data: JsonObject;
  readonly notify: JsonObject | null;
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly overlap: StoredSchedule["overlap"];
  readonly catch_up: StoredSchedule["catchUp"];
  readonly jitter_seconds: number;
  readonly source: StoredSchedule["source"];
  readonly tenant_id: string | null;
  readonly last_run_id: string | null;
  /** Null: it is disabled, or it never fires again. */
  readonly next_fire_at: string | null;
  /** The next five, as the clocks of its zone show them. */
  readonly next_fire_times: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
}

export interface SlotDescription {
  readonly slot: string;
  readonly kind: SlotRecord["kind"];
  readonly state: SlotRecord["outcome"]["state"];
  readonly reason: string | null;
  readonly message: string | null;
  readonly run_id: string | null;
  /** Of several in a row that were skipped for one reason: the last one, and how many. */
  readonly last_slot: string | null;
  readonly count: number;
  readonly recorded_at: string;
}

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
  { clock, mask }: Pick<Application, "clock" | "mask">,
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

/** Of one that is disabled: as if it were not. */
async function nextTimesOf(schedule: StoredSchedule, now: number): Promise<readonly string[]> {
  const times = await openFireTimes(schedule);
  const { enabled, nextFireAt, timezone } = schedule;
  const show = openZonedTime(timezone);
  const shown: string[] = [];
  let slot = enabled && nextFireAt !== undefined ? nextFireAt : times.next(now);
  for (; slot !== undefined && shown.length < SHOWN_TIMES; slot = times.next(slot)) {
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
