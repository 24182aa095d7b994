import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal, RunNo, RunRecord } from "../../ports/journal.ts";

/** Finds a run by its id or the beginning of it. Throws `RUN_NOT_FOUND`, `RUN_AMBIGUOUS`. */
export async function findRecord(journal: Journal, runId: string): Promise<RunRecord> {
  const record = await journal.findRun(runId);
  if (record === "ambiguous") throw new PawlError("RUN_AMBIGUOUS", { message: `"${runId}" fits more than one run.` });
  if (record === undefined) throw new PawlError("RUN_NOT_FOUND", { message: `There is no run "${runId}".` });
  return record;
}

/** The record of a run that must exist. */
export async function readRecord(journal: Journal, no: RunNo): Promise<RunRecord> {
  const record = await journal.readRun(no);
  if (record === undefined) throw new Error(`Run ${no} has no record.`);
  return record;
}
