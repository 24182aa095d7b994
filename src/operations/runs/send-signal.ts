import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Json } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { Application } from "../application/application.ts";
import { findRun } from "./find-run.ts";

export interface Signal {
  /** The event that a step waits for, or will wait for. */
  readonly name: string;
  readonly payload: Json;
}

/**
 * Tells a run that an event has happened; durable when it resolves. A signal that nobody waits for yet is kept until somebody
 * does. Throws `RUN_NOT_FOUND`, `RUN_FINISHED`, `SIGNALS_FULL`.
 */
export async function sendSignal(app: Application, id: string, { name, payload }: Signal): Promise<RunRecord> {
  const record = await findRun(app, id);
  if (record.completedAt !== undefined) {
    throw new PawlError("RUN_FINISHED", { message: `The run ${record.id} has ended: ${record.status}.` });
  }
  const host = await app.host();
  await host.sendSignal(record.id, name, payload);
  return record;
}
