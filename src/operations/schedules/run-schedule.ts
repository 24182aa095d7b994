import { isPawlError } from "../../core/errors/pawl-error.ts";
import { traitsOf } from "../../core/graph/dialects.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { SlotRecord, StoredSchedule } from "../../ports/service/schedules.ts";
import { forOwner } from "../application/owner-application.ts";
import type { Driving, StartPorts } from "../application/ports.ts";
import { grantOfSaved } from "../definitions/grant-of-saved.ts";
import { deriveRunId } from "../start/derive-run-id.ts";
import { fillDirectories } from "../start/input/fill-directories.ts";
import { toRequestInput, toRunInput } from "../start/input/to-run-input.ts";
import { type PreparedRun, prepareStart } from "../start/prepare-run.ts";
import { findSubmitted } from "../start/prepare-submission.ts";
import type { RunRequest } from "../start/submit-run.ts";
import { idOfDefined, timetablesOf } from "./defined-schedules.ts";
import { findSchedule } from "./describe-schedule.ts";

/** A run of it now, whatever else is under way. The request throws `SCHEDULE_NOT_FOUND`, and as a submission. */
export function toScheduleRequest(app: StartPorts & Driving, id: string): Pick<RunRequest, "asked" | "prepare"> {
  return {
    asked: { schedule: id },
    async prepare(runId) {
      const schedule = await findSchedule(app, id);
      const at = app.clock.now();
      const prepared = await prepareScheduled(app, schedule, { slot: at, kind: "manual" });
      const run = { ...prepared, runId: runId ?? prepared.runId };
      return {
        start: run,
        async begin(start) {
          await start();
          const { schedules } = await app.service();
          const outcome = { state: "started", runId: run.runId } as const;
          await schedules.addSlots(schedule.id, [{ slot: at, kind: "manual", outcome, at }]);
        },
      };
    },
  };
}

/** The run of a slot: the same id whenever it is asked for, so that none begins twice. */
export function runIdOf({ id }: Pick<StoredSchedule, "id">, { slot, kind }: Slot): string {
  return deriveRunId("schedule", id, kind, toIsoTime(slot));
}

type Slot = Pick<SlotRecord, "slot" | "kind">;

/** For the schedule's tenant, within what it may spend. Throws as `prepareSubmission`. */
export async function prepareScheduled(
  everybodys: StartPorts & Driving,
  schedule: StoredSchedule,
  slot: Slot,
): Promise<PreparedRun> {
  const app = forOwner(everybodys, { ...schedule, grant: grantOfSaved(schedule) });
  const { definition, file } = await findSubmitted(app, { workflow: schedule.workflow });
  const runId = runIdOf(schedule, slot);
  const { graph } = definition;
  const scheduledTime = toIsoTime(slot.slot);
  const { source } = schedule;
  const own = timetablesOf(graph).find(({ part }) => source !== "api" && idOfDefined(schedule, part) === schedule.id);
  const requestData = {
    source: "cron",
    ...(own?.name === undefined ? {} : { name: own.name }),
    cronDetails: { jobId: graph.name, scheduledTime },
    ...(Object.keys(schedule.input).length === 0 ? {} : { payload: schedule.input }),
  };
  const input =
    traitsOf(graph).input === "request" && graph.triggers?.some(({ kind }) => kind === "cron")
      ? await toRequestInput({ requestId: runId, requestData, context: {} }, graph)
      : await toRunInput(await fillDirectories(app, schedule.input, { graph }), graph);
  // Now it is asked for by whoever asks now.
  const requestedBy = slot.kind === "manual" ? undefined : schedule.requestedBy;
  const prepared = await prepareStart(app, { definition, input, runId, file }, { folder: app.appDir, requestedBy });
  // Its end is told as the schedule says.
  return { ...prepared, options: { ...prepared.options, schedule_id: schedule.id } };
}

/**
 * Whether a run will not begin however often it is tried, because of its definition, its input or the configuration. What has
 * no code of the table is nobody's known fault, and is tried again.
 */
export function isRefusal(error: unknown): error is { readonly code: string; readonly message: string } {
  return isPawlError(error) && !PASSING.has(error.code);
}

/** Errors that may pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  "SERVER_BUSY",
  "SERVER_STOPPING",
  "OWNER_GONE",
  "OWNER_UNREACHABLE",
  "DATA_LOCKED",
  "JOURNAL_FULL",
  "JOURNAL_IO",
  "STORAGE_UNAVAILABLE",
  "JOURNAL_DAMAGED",
  "JOURNAL_NEWER",
]);
