import { parseExact } from "../../core/exact-json.ts";
import type { OutboxRecord } from "../../ports/journal.ts";
import type { SlotRecord, StoredSchedule } from "../../ports/service/schedules.ts";
import type { Place, Ports } from "../application/ports.ts";
import { readRunHistory } from "../runs/describe/describe-run-reading.ts";
import { isWanted, readNotify } from "../schedules/schedule-notify.ts";
import { writeNotices } from "../schedules/write-notice.ts";
import { addDelivery, type WantedDelivery } from "./add-delivery.ts";
import { describeEnd } from "./describe-end.ts";
import { takeUpEntries } from "./take-up-entries.ts";

type NoticeApplication = Pick<Ports, "records" | "service" | "mask">;

/** Makes deliveries of what ends of scheduled runs have to tell, as their schedules are now. */
export async function takeUpNotices(
  app: NoticeApplication,
  unreadable: Set<number>,
  failed: (error: unknown) => void,
): Promise<void> {
  await takeUpEntries(app, { kind: "notify", unreadable, failed, read: (entry) => readEnd(app, entry) });
}

async function readEnd(app: NoticeApplication, entry: OutboxRecord): Promise<readonly WantedDelivery[]> {
  const sources = await app.records();
  const record = await sources.journal.readRun(entry.run);
  const { schedule: scheduleId } = parseExact(entry.body) as { readonly schedule: string };
  const schedule = await (await app.service()).schedules.find(scheduleId);
  // The schedule or its `notify` was removed, so nobody is notified.
  if (record === undefined || schedule?.notify === undefined) return [];
  const notify = readNotify(schedule.notify);
  if (!isWanted(notify, record.status)) return [];
  const event = record.status === "completed" || record.status === "partial" ? "workflow.completed" : "workflow.failed";
  const end = await describeEnd(await readRunHistory(sources, record), event);
  const notice = {
    workflow: record.workflow,
    scheduleId,
    status: record.status,
    runId: record.id,
    durationSeconds: end.duration_seconds,
    costUsd: end.costs.total_usd,
    error: end.error,
    at: end.timestamp,
  };
  return writeNotices(notify, notice, { ...end, schedule_id: scheduleId }).map((written) => ({
    ...written,
    names: [record.id, entry.id, written.url],
    event,
    runId: record.id,
    workflow: record.workflow,
    readsEnv: false,
    createdAt: entry.createdAt,
    tenantId: record.tenantId,
  }));
}

/** A slot whose run could not be started has no end that would tell of it. Asked for again, nothing is sent twice. */
export async function tellRefused(
  app: NoticeApplication & Pick<Place, "clock">,
  schedule: StoredSchedule,
  { slot, error }: { readonly slot: SlotRecord; readonly error: { readonly code: string; readonly message: string } },
): Promise<void> {
  if (schedule.notify === undefined) return;
  const notify = readNotify(schedule.notify);
  if (!isWanted(notify, "failed")) return;
  const shown = { code: error.code, message: app.mask(error.message) };
  const at = new Date(slot.slot).toISOString();
  const notice = { workflow: schedule.workflow, scheduleId: schedule.id, status: "refused", error: shown, at };
  const body = {
    event: "schedule.refused",
    schedule_id: schedule.id,
    workflow: schedule.workflow,
    error: shown,
    timestamp: at,
  };
  for (const written of writeNotices(notify, notice, body))
    await addDelivery(app, {
      ...written,
      names: [schedule.id, slot.seq, written.url],
      event: "schedule.refused",
      workflow: schedule.workflow,
      readsEnv: false,
      createdAt: app.clock.now(),
      tenantId: schedule.tenantId,
    });
}
