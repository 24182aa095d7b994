import type { RunRecord } from "../../ports/journal.ts";
import type { Application } from "../application/application.ts";
import { compareWithSource } from "../repeat/compare-with-source.ts";
import { findUnfinished } from "./cancel-run.ts";

export interface ResumedRun {
  readonly record: RunRecord;
  /** What has changed of its files since it began: it goes on with what it began with. */
  readonly changes: readonly string[];
}

/** Goes on with a run that was laid down; without effect on one that is under way. Throws `RUN_NOT_FOUND`, `RUN_FINISHED`. */
export async function resumeRun(app: Application, id: string): Promise<ResumedRun> {
  const found = await findUnfinished(app, id);
  const changes = await compareWithSource(app, found);
  return { record: await (await app.host()).resumeRun(found.id), changes };
}
