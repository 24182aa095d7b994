import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal, RunNo, RunRecord } from "../../ports/journal.ts";

/** Finds a run by its id or the beginning of it. Throws `RUN_NOT_FOUND`, `RUN_AMBIGUOUS`. */
export async function findRecord(journal: Journal, runId: string): Promise<RunRecord> {
  const record = await journal.findRun(runId);
  if (record === "ambiguous") throw new PawlError("RUN_AMBIGUOUS", { message: `"${runId}" fits more than one run.` });
  if (record === undefined) throw new PawlError("RUN_NOT_FOUND", { message: `There is no run "${runId}".` });
  return record;
}

/** Throws `RUN_ID_TAKEN` where there is a run of this id, if only in memory. */
export async function refuseTaken(
  journal: Journal,
  runId: string,
  runs: { byId(runId: string): unknown },
): Promise<void> {
  const known = await journal.findRun(runId);
  const isTaken =
    runs.byId(runId) !== undefined || (known !== undefined && known !== "ambiguous" && known.id === runId);
  if (isTaken) throw new PawlError("RUN_ID_TAKEN", { message: `There is already a run "${runId}".` });
}

/** The record of a run that must exist. */
export async function readRecord(journal: Journal, no: RunNo): Promise<RunRecord> {
  const record = await journal.readRun(no);
  if (record === undefined) throw new Error(`Run ${no} has no record.`);
  return record;
}
