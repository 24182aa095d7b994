import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { parseStepPath } from "../../core/graph/step-path.ts";
import type { StepLogged } from "../../core/history/events.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { Json } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { type Frozen, jsonSchema, timeSchema } from "../schemas.ts";
import { type RunSources, readRunHistory, readValues } from "./describe-run-reading.ts";

export const stepLogSchema = z
  .object({
    path: z.string(),
    attempt: z.number().int(),
    logged_at: timeSchema,
    events: z.array(jsonSchema).describe("For an agent its messages, as they came."),
  })
  .meta({ id: "StepLog", description: "What was said during one attempt." });

export type StepLog = Frozen<z.output<typeof stepLogSchema>>;

const PAGE = 1_000;

/**
 * The logs of a run's attempts, oldest first; one in memory at a time. `step` is a path (with all that runs inside it) or
 * the id of a step (with all its items and visits). Throws `STEP_NOT_FOUND`.
 */
export async function* describeStepLogs(
  sources: RunSources,
  record: RunRecord,
  step?: string,
): AsyncGenerator<StepLog> {
  const reading = await readRunHistory(sources, record);
  const { steps, state } = reading.history;
  if (step !== undefined && ![...steps.keys()].some((path) => isOf(step, path))) {
    throw new PawlError("STEP_NOT_FOUND", { message: `Nothing has begun in this run that is called "${step}".` });
  }
  for (let afterSeq = 0; afterSeq < state.seq; afterSeq += PAGE) {
    const rows = await sources.journal.readEvents(record.no, { afterSeq, limit: PAGE });
    for (const { seq, event } of rows) {
      if (event.type !== "stepLogged" || (step !== undefined && !isOf(step, event.path))) continue;
      const values = await readValues(reading, new Set([seq]));
      yield toLog(event, values.value(seq));
    }
  }
}

function isOf(step: string, path: string): boolean {
  return (
    path === step || path.startsWith(`${step}/`) || path.startsWith(`${step}~`) || parseStepPath(path).stepId === step
  );
}

function toLog({ path, attempt, at }: StepLogged, value: Json | undefined): StepLog {
  const events = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return { path, attempt, logged_at: toIsoTime(at), events };
}
