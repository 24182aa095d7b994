import type { JsonObject } from "../../../core/json.ts";
import type {
  CatchUp,
  DisabledReason,
  Overlap,
  SkipReason,
  SlotKind,
  SlotOutcome,
  SlotRecord,
  StoredSchedule,
} from "../../../ports/schedules.ts";

export interface ScheduleRow {
  readonly id: string;
  readonly workflow_name: string;
  readonly cron_expression: string;
  readonly timezone: string;
  readonly input_data: string;
  readonly notify: string | null;
  readonly enabled: number;
  readonly disabled_reason: DisabledReason | null;
  readonly overlap: Overlap;
  readonly catch_up: CatchUp;
  readonly jitter_seconds: number;
  readonly source: StoredSchedule["source"];
  readonly tenant_id: string | null;
  readonly max_cost_micro: number | null;
  readonly last_run_id: string | null;
  readonly next_fire_at: number | null;
  readonly due_at: number | null;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface SlotRow {
  readonly seq: number;
  readonly schedule_id: string;
  readonly slot: number;
  readonly kind: SlotKind;
  readonly state: SlotOutcome["state"];
  readonly reason: SkipReason | null;
  readonly message: string | null;
  readonly run_id: string | null;
  readonly last_slot: number | null;
  readonly count: number;
  readonly at: number;
}

export function toSchedule(row: ScheduleRow): StoredSchedule {
  return {
    id: row.id,
    workflow: row.workflow_name,
    cron: row.cron_expression,
    timezone: row.timezone,
    input: JSON.parse(row.input_data) as JsonObject,
    enabled: row.enabled === 1,
    overlap: row.overlap,
    catchUp: row.catch_up,
    jitterSeconds: row.jitter_seconds,
    source: row.source,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.notify === null ? {} : { notify: JSON.parse(row.notify) as JsonObject }),
    ...(row.disabled_reason === null ? {} : { disabledReason: row.disabled_reason }),
    ...(row.tenant_id === null ? {} : { tenantId: row.tenant_id }),
    ...(row.max_cost_micro === null ? {} : { maxCostMicro: row.max_cost_micro }),
    ...(row.last_run_id === null ? {} : { lastRunId: row.last_run_id }),
    ...(row.next_fire_at === null ? {} : { nextFireAt: row.next_fire_at }),
    ...(row.due_at === null ? {} : { dueAt: row.due_at }),
  };
}

export function toSlot(row: SlotRow): SlotRecord {
  return {
    seq: row.seq,
    scheduleId: row.schedule_id,
    slot: row.slot,
    kind: row.kind,
    outcome: toOutcome(row),
    count: row.count,
    at: row.at,
    ...(row.last_slot === null ? {} : { lastSlot: row.last_slot }),
  };
}

function toOutcome({ state, reason, message, run_id: runId }: SlotRow): SlotOutcome {
  switch (state) {
    case "claimed":
    case "queued":
      return { state };
    case "started":
      return { state, runId: runId ?? "" };
    case "skipped":
      return { state, reason: reason ?? "refused", ...(message === null ? {} : { message }) };
  }
}
