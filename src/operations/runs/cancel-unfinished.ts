import { PawlError } from "../../core/errors/pawl-error.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { findRun } from "../application/find-run.ts";
import type { Driving, Stores } from "../application/ports.ts";

/**
 * Starts nothing but `finally` steps any more; a second time the run ends without waiting for the steps that are under way.
 * Durable when it resolves. Throws `RUN_NOT_FOUND`, `RUN_FINISHED`.
 */
export async function cancelUnfinished(
  app: Stores & Driving,
  id: string,
  { by, reason }: { readonly by: string; readonly reason: string | undefined },
): Promise<RunRecord> {
  const record = await findUnfinished(app, id);
  return (await app.host()).request(record.id, { type: "cancel", ...(reason === undefined ? { by } : { by, reason }) });
}

/** Throws `RUN_NOT_FOUND`, `RUN_FINISHED`. */
export async function findUnfinished(app: Stores, id: string): Promise<RunRecord> {
  const record = await findRun(app, id);
  if (record.completedAt === undefined) return record;
  throw new PawlError("RUN_FINISHED", { message: `The run ${record.id} has ended: ${record.status}.` });
}
