import type { Application } from "../application/application.ts";
import { describeStepLogs, type StepLog } from "./describe-run-logs.ts";
import { findRun } from "./find-run.ts";

export interface LogsPage {
  /** A step's id, or the path of one instance. */
  readonly step?: string;
  readonly limit: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** The logs of a run's attempts, oldest first: what is written stays, so that a page is counted. Throws `STEP_NOT_FOUND`. */
export async function pageRunLogs(
  app: Application,
  id: string,
  { step, limit, cursor }: LogsPage,
): Promise<{ readonly items: readonly StepLog[]; readonly next_cursor: string | null }> {
  const record = await findRun(app, id);
  const first = cursor === undefined ? 0 : Number.parseInt(cursor, 10) || 0;
  const items: StepLog[] = [];
  let index = 0;
  for await (const log of describeStepLogs(await app.records(), record, step)) {
    if (index >= first) items.push(log);
    index += 1;
    if (items.length === limit) return { items, next_cursor: String(index) };
  }
  return { items, next_cursor: null };
}
