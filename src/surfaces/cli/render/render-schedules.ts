import type { ScheduleDescription, SlotDescription } from "../../../operations/schedules/describe-schedule.ts";
import { shortId } from "../short-id.ts";
import { formatTime } from "./format-time.ts";
import type { PageOptions } from "./render-runs.ts";
import { sanitize } from "./sanitize.ts";
import type { Segment } from "./segment.ts";
import { renderTable } from "./table.ts";

/** The table of `pawl schedules ls`. */
export function renderSchedules(schedules: readonly ScheduleDescription[], { paint, now, width }: PageOptions): string {
  if (schedules.length === 0) return "There are no schedules. Make one: pawl schedules create WORKFLOW '0 6 * * 1-5'";
  const columns = ["ID", "WORKFLOW", "CRON", "ZONE", "FROM", "NEXT", "LAST RUN"].map((title) => ({ title }));
  const rows = schedules.map((schedule): Segment[] => [
    { text: shortId(schedule.schedule_id) },
    { text: sanitize(schedule.workflow_name) },
    { text: sanitize(schedule.cron_expression) },
    { text: sanitize(schedule.timezone) },
    { text: schedule.source === "definition" ? "file" : schedule.source },
    { text: nextOf(schedule, now) },
    { text: schedule.last_run_id === null ? "" : shortId(schedule.last_run_id) },
  ]);
  return renderTable(columns, rows, { paint, width });
}

/** The table of `pawl schedules slots`. */
export function renderSlots(slots: readonly SlotDescription[], { paint, width }: PageOptions): string {
  if (slots.length === 0) return "None of its slots has passed.";
  const columns = ["SLOT", "STATE", "WHY", "RUN"].map((title) => ({ title }));
  const rows = slots.map((slot): Segment[] => [
    { text: slot.last_slot === null ? slot.slot : `${slot.slot} to ${slot.last_slot} (${slot.count})` },
    { text: slot.state },
    { text: sanitize([slot.reason, slot.message].filter((part) => part !== null).join(": ")) },
    { text: slot.run_id === null ? "" : shortId(slot.run_id) },
  ]);
  return renderTable(columns, rows, { paint, width });
}

function nextOf(schedule: ScheduleDescription, now: number): string {
  const { enabled, disabled_reason: reason, next_fire_at: next, source } = schedule;
  if (!enabled && reason === "definition_removed")
    return source === "saved" ? "not saved any more" : "gone from its file";
  if (!enabled) return "paused";
  return next === null ? "never" : formatTime(Date.parse(next), now);
}
