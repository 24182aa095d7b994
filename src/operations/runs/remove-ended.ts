import { PawlError } from "../../core/errors/pawl-error.ts";
import { findRun } from "../application/find-run.ts";
import type { Driving, Stores } from "../application/ports.ts";

/**
 * Takes a run away that has ended, with everything that the journal holds of it. Files that it made stay, and so do large
 * values, which other runs may share. Throws `RUN_NOT_FOUND`, `RUN_NOT_ENDED`, `RUN_NEEDED`.
 */
export async function removeEnded(app: Stores & Driving, idOrPrefix: string): Promise<string> {
  const { id, status, completedAt } = await findRun(app, idOrPrefix);
  if (completedAt === undefined)
    throw new PawlError("RUN_NOT_ENDED", { message: `The run ${id} has not ended: ${status}.` });
  await (await app.host()).deleteRun(id);
  await (await app.service()).deadLetters.forget(id);
  return id;
}
