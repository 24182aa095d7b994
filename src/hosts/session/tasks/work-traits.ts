import type { Instance, RunState } from "../../../core/history/run-state.ts";
import type { DeathOfProcess } from "../../../core/interpreter/attempt/crashes.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { FindExecutor } from "../../executors.ts";

type WorkTraits = Pick<DeathOfProcess, "runsElsewhere" | "reservesCalls">;

/**
 * Finds what executors say of the work of tasks in flight: whether it is done elsewhere, so that it cannot have taken the process
 * down, and whether each call is on record before it is sent. Of an executor that is not found any more neither is known.
 */
export async function findWorkTraits(
  findExecutor: FindExecutor,
  state: RunState,
  options: JsonObject,
): Promise<WorkTraits> {
  const elsewhere = new Set<Instance>();
  const reserving = new Set<Instance>();
  for (const instance of state.active.values()) {
    const { step } = instance.step;
    if (instance.phase !== "dispatched" || step.kind !== "task") continue;
    const { settings } = instance.scope.frame.graph.graph;
    const executor = await findExecutor(step.executor, { options, settings }).catch(() => undefined);
    if (executor?.runsElsewhere === true) elsewhere.add(instance);
    if (executor?.reservesCalls === true) reserving.add(instance);
  }
  return { runsElsewhere: (instance) => elsewhere.has(instance), reservesCalls: (instance) => reserving.has(instance) };
}
