import type { RunState } from "../history/run-state.ts";
import { toIsoTime } from "../iso-time.ts";
import type { JsonObject } from "../json.ts";

/** `run` in expressions. `date` is the day on which the run began, so that a run over midnight does not change it. */
export function describeRun(state: RunState): JsonObject {
  const startedAt = toIsoTime(state.startedAt);
  return { id: state.runId, workflow: state.workflow, startedAt, date: startedAt.slice(0, 10) };
}
