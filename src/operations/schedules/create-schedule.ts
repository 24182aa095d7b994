import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import { newRunId } from "../../hosts/session/new-run.ts";
import type { CatchUp, Overlap, StoredSchedule } from "../../ports/service/schedules.ts";
import type { StartPorts } from "../application/ports.ts";
import { prepareSubmission } from "../start/prepare-submission.ts";
import { describeSchedule, type ScheduleDescription } from "./describe-schedule.ts";
import { openFireTimes, toNext } from "./fire-times.ts";
import { checkNotify } from "./schedule-notify.ts";

export interface NewSchedule {
  /** A registered name. */
  readonly workflow: string;
  readonly cron: string;
  readonly timezone?: string;
  readonly input?: JsonObject;
  readonly notify?: JsonObject;
  readonly enabled?: boolean;
  readonly overlap?: Overlap;
  readonly catchUp?: CatchUp;
  readonly jitterSeconds?: number;
}

/**
 * Starts a workflow by the clock from now on, for whoever asks and within what they may spend. Throws `CRON_INVALID`,
 * `TIMEZONE_INVALID`, `WORKFLOW_NOT_FOUND`, `DEFINITION_INVALID`, `INPUT_INVALID`, and as `checkNotify`.
 */
export async function createSchedule(app: StartPorts, wanted: NewSchedule): Promise<ScheduleDescription> {
  const { workflow, cron, timezone = "UTC", input = {}, notify, enabled = true } = wanted;
  const { overlap = "skip", catchUp = "one", jitterSeconds = 0 } = wanted;
  if (notify !== undefined) checkNotify(app, notify);
  const times = await openFireTimes({ cron, timezone });
  await checkStart(app, workflow, input);
  const now = app.clock.now();
  const id = newRunId(now);
  const next = toNext(times, { id, jitterSeconds, afterMs: now });
  if (next.nextFireAt === undefined) throw neverFires(cron);
  const { tenantId, maxRunCostMicro: maxCostMicro, grant } = app;
  const stored: StoredSchedule = {
    id,
    workflow,
    cron: cron.trim(),
    timezone,
    input,
    enabled,
    overlap,
    catchUp,
    jitterSeconds,
    source: "api",
    version: 1,
    createdAt: now,
    updatedAt: now,
    ...next,
    notify,
    ...(enabled ? {} : { disabledReason: "paused" as const }),
    tenantId,
    maxCostMicro,
    grant,
  };
  await (await app.service()).schedules.add(stored);
  return describeSchedule(app, stored);
}

export function neverFires(cron: string): PawlError {
  return new PawlError("CRON_INVALID", { message: `"${cron}" names no time that ever comes.` });
}

/** Checks what is known before a run. Who answers agents may be configured where the schedule is fired, and not here. */
export async function checkStart(app: StartPorts, workflow: string, input: JsonObject): Promise<void> {
  if (workflow.includes("\n") || workflow.trimStart().startsWith("{")) {
    throw new PawlError("REQUEST_INVALID", {
      message: "A schedule starts a workflow of the application: the text of a definition cannot be scheduled.",
      remedy: "Save it in `workflows/`, and give its name.",
    });
  }
  try {
    await prepareSubmission(app, { workflow, input });
  } catch (error) {
    if (!isPawlError(error) || error.code !== "AGENT_NOT_CONFIGURED") throw error;
  }
}
