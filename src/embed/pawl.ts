// biome-ignore-all lint/performance/noBarrelFile: it is what the package shows of several modules.

/** The package export `pawl`: workflows in TypeScript, and the engine that runs them within a program. */
export { and, count, eq, ge, gt, has, json, le, lt, ne, not, or, text } from "../dialects/typescript/conditions.ts";
export { each, loop, match, when } from "../dialects/typescript/flows.ts";
export { jsonSchema } from "../dialects/typescript/schema.ts";
export { agent, approval, call, fail, run, tool, wait } from "../dialects/typescript/steps.ts";
export type { Given, Plain, Ref, Schema, Value } from "../dialects/typescript/types.ts";
export { type AnyWorkflow, type Workflow, workflow } from "../dialects/typescript/workflow.ts";
export { type StepContext, StepFailure } from "../ports/step-functions.ts";
export { type Pawl, type PawlOptions, type RunEvent, RunFailed, type StartedRun, type TestPawl } from "./api.ts";

import { type Pawl, type PawlOptions, RunFailed, type TestPawl } from "./api.ts";

/** Opens the engine in this process, and goes on with the runs that it was cut off from. Close it before the program ends. */
export async function openPawl(options: PawlOptions): Promise<Pawl> {
  // Defining workflows needs none of it.
  const { openEngine } = await import("./engine.ts");
  return openEngine(options, RunFailed);
}

/** Opens it for a test: in a folder of its own, which is gone when it is closed, and with a clock that the test moves. */
export async function openTestPawl(options: Omit<PawlOptions, "data" | "database">): Promise<TestPawl> {
  const { openTestEngine } = await import("./test-engine.ts");
  return openTestEngine(options, RunFailed);
}
