import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import { newRunId } from "../../hosts/session/new-run.ts";
import type { Changes, ScheduleSettings, StoredSchedule } from "../../ports/service/schedules.ts";
import type { StartPorts } from "../application/ports.ts";
import { prepareSubmission } from "../start/prepare-submission.ts";
import { describeSchedule, type ScheduleDescription } from "./describe-schedule.ts";
import { openFireTimes, toNext } from "./fire-times.ts";
import { checkNotify } from "./schedule-notify.ts";

export interface NewSchedule extends Omit<Changes<ScheduleSettings>, "cron"> {
  /** A registered name. */
  readonly workflow: string;
  readonly cron: string;
}

/** What holds where nothing is said. */
export const DEFAULT_SETTINGS = {
  timezone: "UTC",
  input: {},
  enabled: true,
  overlap: "skip",
  catchUp: "one",
  jitterSeconds: 0,
} as const;

/**
 * Starts a workflow by the clock from now on, for whoever asks and within what they may spend. Throws `CRON_INVALID`,
 * `TIMEZONE_INVALID`, `WORKFLOW_NOT_FOUND`, `DEFINITION_INVALID`, `INPUT_INVALID`, and as `checkNotify`.
 */
export async function createSchedule(app: StartPorts, wanted: NewSchedule): Promise<ScheduleDescription> {
  const { workflow, ...given } = wanted;
  const settings: ScheduleSettings = { ...DEFAULT_SETTINGS, ...withoutNulls(given), cron: given.cron.trim() };
  if (settings.notify !== undefined) checkNotify(app, settings.notify);
  const times = await openFireTimes(settings);
  await checkStart(app, workflow, settings.input);
  const now = app.clock.now();
  const id = newRunId(now);
  const next = toNext(times, { id, jitterSeconds: settings.jitterSeconds, afterMs: now });
  if (next.nextFireAt === undefined) throw neverFires(given.cron);
  const { tenantId, maxRunCostMicro: maxCostMicro, grant, key } = app;
  const stored: StoredSchedule = {
    ...settings,
    ...next,
    id,
    workflow,
    source: "api",
    version: 1,
    createdAt: now,
    updatedAt: now,
    ...(settings.enabled ? {} : { disabledReason: "paused" as const }),
    tenantId,
    maxCostMicro,
    grant,
    ...(key && { requestedBy: key.name }),
  };
  await (await app.service()).schedules.add(stored);
  return describeSchedule(app, stored);
}

function withoutNulls(given: Changes<ScheduleSettings>): Partial<ScheduleSettings> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
}

export function neverFires(cron: string): PawlError {
  return new PawlError("CRON_INVALID", { message: `"${cron}" names no time that ever comes.` });
}

/** Checks what is known before a run. Who answers agents may be configured where the schedule is fired, and not here. */
export async function checkStart(app: StartPorts, workflow: string, input: JsonObject): Promise<void> {
  if (workflow.includes("\n") || workflow.trimStart().startsWith("{"))
    throw new PawlError("REQUEST_INVALID", {
      message: "A schedule starts a workflow of the application: the text of a definition cannot be scheduled.",
      remedy: "Save it in `workflows/`, and give its name.",
    });
  try {
    await prepareSubmission(app, { workflow, input });
  } catch (error) {
    if (!isPawlError(error) || error.code !== "AGENT_NOT_CONFIGURED") throw error;
  }
}
