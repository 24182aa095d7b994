import type { OpenApplication } from "../../../operations/application/application.ts";
import { changeSchedule } from "../../../operations/schedules/change-schedule.ts";
import { createSchedule } from "../../../operations/schedules/create-schedule.ts";
import type { ScheduleDescription, SlotDescription } from "../../../operations/schedules/describe-schedule.ts";
import { listScheduleSlots, listSchedules, showSchedule } from "../../../operations/schedules/list-schedules.ts";
import { removeSchedule } from "../../../operations/schedules/remove-schedule.ts";
import { runScheduleNow } from "../../../operations/schedules/run-schedule.ts";
import { gatherInput } from "../../../operations/start/gather-input.ts";
import type { CatchUp, Overlap } from "../../../ports/schedules.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { shortId } from "../short-id.ts";

export interface CreateScheduleOptions extends CommonOptions {
  /** `key=value` each. */
  readonly i?: readonly string[];
  readonly input?: string;
  readonly timezone: string;
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
  readonly jitter?: number;
  readonly notifyWebhook?: string;
  readonly notifySlack?: string;
  readonly notifyEmail?: readonly string[];
  readonly notifyOn?: string;
}

type ScheduleCommand = (app: OpenApplication, id: string, options: CommonOptions) => Promise<number>;

const SHOWN_SLOTS = 50;

/** `pawl schedules ls`. */
export async function listSchedulesCommand(app: OpenApplication, options: CommonOptions): Promise<number> {
  return showSchedules(await listSchedules(app), options);
}

export async function showSchedules(items: readonly ScheduleDescription[], options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope({ items, next_cursor: null });
  else {
    const { renderSchedules } = await import("../render/render-schedules.ts");
    print(renderSchedules(items, pageOptions()));
  }
  return 0;
}

/** `pawl schedules create`: prints the id; a process that serves notices within a second. */
export async function createScheduleCommand(
  app: OpenApplication,
  { workflow, cron }: { readonly workflow: string; readonly cron: string },
  options: CreateScheduleOptions,
): Promise<number> {
  const { i: pairs = [], input: file, timezone, overlap, catchUp, jitter } = options;
  const input = await gatherInput({ pairs, folder: process.cwd(), ...(file === undefined ? {} : { file }) }, undefined);
  const created = await createSchedule(app, {
    workflow,
    cron,
    input,
    timezone,
    overlap,
    catchUp,
    ...(jitter === undefined ? {} : { jitterSeconds: jitter }),
    ...toNotify(options),
  });
  if (formatOf(options) !== "text") printEnvelope(created);
  else {
    print(created.schedule_id);
    tell(`Next: ${created.next_fire_times.join(", ")}`);
    const owner = await app.findOwner();
    const isServed = owner.state === "held" && owner.url !== undefined;
    if (!isServed) tell("Nobody serves at the moment, and only who serves fires schedules: pawl serve");
  }
  return 0;
}

function toNotify({ notifyWebhook, notifySlack, notifyEmail, notifyOn: on }: CreateScheduleOptions) {
  const notify = {
    ...(on === undefined ? {} : { on }),
    ...(notifyWebhook === undefined ? {} : { webhook: { url: notifyWebhook } }),
    ...(notifySlack === undefined ? {} : { slack: { url: notifySlack } }),
    ...(notifyEmail === undefined ? {} : { email: { to: [...notifyEmail] } }),
  };
  return Object.keys(notify).length === 0 ? {} : { notify };
}

const enable =
  (enabled: boolean): ScheduleCommand =>
  async (app, id, options) => {
    const { schedule_id: whole } = await showSchedule(app, id);
    const changed = await changeSchedule(app, whole, { enabled });
    return showEnabled(changed, options);
  };

export function showEnabled(changed: ScheduleDescription, options: CommonOptions): number {
  const { schedule_id: id, enabled, next_fire_times: next } = changed;
  if (formatOf(options) !== "text") printEnvelope(changed);
  else if (enabled) tell(`Resumed ${id}. Next: ${next[0] ?? "never"}`);
  else tell(`Paused ${id}. Fire it again: pawl schedules resume ${shortId(id)}`);
  return 0;
}

const next: ScheduleCommand = async (app, id, options) => showNext(await showSchedule(app, id), options);

export function showNext(schedule: ScheduleDescription, options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope(schedule);
  else {
    print(schedule.next_fire_times.join("\n"));
    if (!schedule.enabled)
      tell(`It is disabled. Fire it again: pawl schedules resume ${shortId(schedule.schedule_id)}`);
  }
  return 0;
}

const slots: ScheduleCommand = async (app, id, options) => {
  const { schedule_id: whole } = await showSchedule(app, id);
  const { items, nextCursor } = await listScheduleSlots(app, whole, { limit: SHOWN_SLOTS });
  return showSlots({ items, next_cursor: nextCursor }, options);
};

interface SlotList {
  readonly items: readonly SlotDescription[];
  readonly next_cursor: string | null;
}

export async function showSlots(list: SlotList, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(list);
  else {
    const { renderSlots } = await import("../render/render-schedules.ts");
    print(renderSlots(list.items, pageOptions()));
  }
  return 0;
}

const rm: ScheduleCommand = async (app, id, options) => {
  const { schedule_id: whole } = await showSchedule(app, id);
  await removeSchedule(app, whole);
  return showRemovedSchedule(whole, options);
};

export function showRemovedSchedule(whole: string, options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope({ schedule_id: whole });
  else tell(`Removed ${whole}. Its runs stay.`);
  return 0;
}

const run: ScheduleCommand = async (app, id, options) => {
  const { schedule_id: whole } = await showSchedule(app, id);
  const host = await app.backgroundHost();
  const runId = await runScheduleNow(app, whole, (prepared) => host.startRun(prepared));
  if (formatOf(options) !== "text") printEnvelope({ run_id: runId });
  else {
    print(runId);
    tell(`The run is under way in process ${host.ownerPid}. See it with: pawl runs show ${shortId(runId)}`);
  }
  return 0;
};

export const scheduleCommands = { pause: enable(false), resume: enable(true), next, slots, rm, run };
