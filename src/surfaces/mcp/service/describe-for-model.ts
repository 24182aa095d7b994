import type { Application } from "../../../operations/application/application.ts";
import { describeRun, shortenRun } from "../../../operations/runs/describe/describe-run.ts";
import { findRun } from "../../../operations/runs/find-run.ts";
import { fitResult } from "./fit-result.ts";

/** A run with its steps: without prompts, and without outputs where they would be too long for one answer. */
export async function describeForModel(app: Application, id: string): Promise<object> {
  const run = await describeRun(await app.records(), await findRun(app, id), { withPrompts: false });
  return fitResult([run, ...shortenRun(run)].map((form) => async () => form));
}
