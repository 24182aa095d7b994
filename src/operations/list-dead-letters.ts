import { isJsonObject, type Json } from "../core/json.ts";
import type { Application } from "./application.ts";

/** A step that has failed for good, of a workflow that keeps such failures. Times are ISO 8601. */
export interface DeadLetter {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly failed_at: string;
}

const MAX_SHOWN = 1_000;

/** What is on the dead-letter list, oldest first, at most 1,000 of them. */
export async function listDeadLetters(app: Application): Promise<readonly DeadLetter[]> {
  const { journal } = await app.records();
  const letters: DeadLetter[] = [];
  for (const { run, body, createdAt } of await journal.readOutbox({ kind: "dead_letter", limit: MAX_SHOWN })) {
    const record = await journal.readRun(run);
    const failure: Json = JSON.parse(body);
    if (record === undefined || !isJsonObject(failure)) continue;
    letters.push({
      run_id: record.id,
      workflow_name: record.workflow,
      path: String(failure["path"]),
      code: String(failure["code"]),
      message: String(failure["message"]),
      failed_at: new Date(createdAt).toISOString(),
    });
  }
  return letters;
}
