import type { Instance, RunState } from "../../../core/history/run-state.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { FindExecutor } from "../../executors.ts";

/**
 * Finds which tasks in flight have their work done elsewhere, so that they cannot have taken the process down. An executor
 * that is not found any more may have.
 */
export async function findWorkElsewhere(
  findExecutor: FindExecutor,
  state: RunState,
  options: JsonObject,
): Promise<(instance: Instance) => boolean> {
  const elsewhere = new Set<Instance>();
  for (const instance of state.active.values()) {
    const { step } = instance.step;
    if (instance.phase !== "dispatched" || step.kind !== "task") continue;
    const { settings } = instance.scope.frame.graph.graph;
    const executor = await findExecutor(step.executor, { options, settings }).catch(() => undefined);
    if (executor?.runsElsewhere === true) elsewhere.add(instance);
  }
  return (instance) => elsewhere.has(instance);
}
