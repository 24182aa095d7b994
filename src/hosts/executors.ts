import type { JsonObject } from "../core/json.ts";
import type { Executor } from "../ports/executor.ts";

/**
 * Finds who does a step's work. Called at the first dispatch of each kind in a run, with the options that the run was
 * started with, so that a resumed run is answered by the same agent. Throws `AGENT_NOT_CONFIGURED`, `EXECUTOR_UNKNOWN`.
 */
export type FindExecutor = (
  kind: string,
  run: { readonly options: JsonObject; readonly settings: JsonObject },
) => Promise<Executor>;
