import type { JsonObject } from "../../../core/json.ts";
import { findRun } from "../../../operations/application/find-run.ts";
import type { Stores } from "../../../operations/application/ports.ts";
import { describeRun } from "../../../operations/runs/describe/describe-run.ts";

/** Larger outputs are not read to show a part of them. */
const MOST_BYTES = 32 * 1024 * 1024;

/** A run with its steps, without prompts. */
export async function describeForModel(app: Stores, id: string): Promise<JsonObject> {
  const run = await describeRun(await app.records(), await findRun(app, id), { withPrompts: false });
  return withOutputs(app, { ...run });
}

/** A described run with its outputs, though they be large: of an answer that is too long a model sees their head and tail. */
export async function withOutputs(app: Stores, run: JsonObject): Promise<JsonObject> {
  const { run_id: id, outputs_bytes: bytes } = run;
  if (typeof id !== "string" || typeof bytes !== "number" || bytes > MOST_BYTES) return run;
  const whole = { withPrompts: false, withSteps: false, mostBytes: Number.POSITIVE_INFINITY };
  const { outputs } = await describeRun(await app.records(), await findRun(app, id), whole);
  return { ...run, outputs };
}
