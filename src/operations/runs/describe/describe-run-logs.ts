import { z } from "zod";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { parseStepPath } from "../../../core/graph/step-path.ts";
import type { StepLogged } from "../../../core/history/events.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import type { Json } from "../../../core/json.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { findRun } from "../../application/find-run.ts";
import type { Stores } from "../../application/ports.ts";
import { type Frozen, jsonSchema, timeSchema } from "../../schemas.ts";
import { eachEvent } from "../each-event.ts";
import { openValues, type RunSources, readRunHistory } from "./describe-run-reading.ts";

export const stepLogSchema = z
  .object({
    seq: z.number().int().describe("The number of its event: where the next page goes on."),
    path: z.string(),
    attempt: z.number().int(),
    logged_at: timeSchema,
    events: z.array(jsonSchema).describe("For an agent its messages, as they came."),
  })
  .meta({ id: "StepLog", description: "What was said during one attempt." });

export type StepLog = Frozen<z.output<typeof stepLogSchema>>;

export interface LogsWanted {
  /** A path (with all that runs inside it), or the id of a step (with all its items and visits). */
  readonly step?: string | undefined;
  /** The event of the last log that was read. */
  readonly afterSeq?: number;
}

/** The logs of a run's attempts, oldest first; one in memory at a time. Throws `STEP_NOT_FOUND`. */
export async function* describeStepLogs(
  sources: RunSources,
  record: RunRecord,
  { step, afterSeq: last = 0 }: LogsWanted = {},
): AsyncGenerator<StepLog> {
  if (step !== undefined && last === 0) await refuseUnknown(sources, record, step);
  const values = openValues(sources, record.no);
  for await (const { seq, event } of eachEvent(sources.journal, record.no, last)) {
    if (event.type !== "stepLogged" || (step !== undefined && !isOf(step, event.path))) continue;
    yield toLog(seq, event, (await values.read(new Set([seq]))).value(seq));
  }
}

/** Logs only grow, so a page goes on behind the last event of the page before. Throws as `describeStepLogs`. */
export async function pageRunLogs(
  app: Stores,
  id: string,
  {
    step,
    limit,
    cursor,
  }: { readonly step?: string | undefined; readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ readonly items: readonly StepLog[]; readonly next_cursor: string | null }> {
  const record = await findRun(app, id);
  const items: StepLog[] = [];
  for await (const log of describeStepLogs(await app.records(), record, { step, afterSeq: Number(cursor ?? 0) })) {
    if (items.length === limit) return { items, next_cursor: String(items.at(-1)?.seq) };
    items.push(log);
  }
  return { items, next_cursor: null };
}

async function refuseUnknown(sources: RunSources, record: RunRecord, step: string): Promise<void> {
  const { steps } = (await readRunHistory(sources, record)).history;
  if ([...steps.keys()].some((path) => isOf(step, path))) return;
  throw new PawlError("STEP_NOT_FOUND", { message: `Nothing has begun in this run that is called "${step}".` });
}

function isOf(step: string, path: string): boolean {
  return (
    path === step || path.startsWith(`${step}/`) || path.startsWith(`${step}~`) || parseStepPath(path).stepId === step
  );
}

function toLog(seq: number, { path, attempt, at }: StepLogged, value: Json | undefined): StepLog {
  const events = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return { seq, path, attempt, logged_at: toIsoTime(at), events };
}
