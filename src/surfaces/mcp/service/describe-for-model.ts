import type { Application } from "../../../operations/application/application.ts";
import { describeRun } from "../../../operations/runs/describe-run.ts";
import { findRun } from "../../../operations/runs/find-run.ts";
import { fitResult, SHORTENED } from "./fit-result.ts";

/** A run with its steps: without prompts, and without outputs where they would be too long for one answer. */
export async function describeForModel(app: Application, id: string): Promise<object> {
  const record = await findRun(app, id);
  const records = await app.records();
  return fitResult([
    () => describeRun(records, record, { withPrompts: false }),
    async () => {
      const run = await describeRun(records, record, { withPrompts: false, withOutputs: false });
      return { ...run, note: SHORTENED };
    },
    async () => {
      const run = await describeRun(records, record, { withPrompts: false, withOutputs: false });
      const steps = run.steps.filter(({ status }) => status !== "completed").slice(0, 100);
      return { ...run, input_data: null, steps, note: SHORTENED };
    },
  ]);
}
