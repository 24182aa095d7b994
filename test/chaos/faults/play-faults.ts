import { setTimeout } from "node:timers/promises";
import type { PerformedFault } from "../checker/observation.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Fault, PlannedFault } from "./fault-plan.ts";
import { performFault } from "./perform-fault.ts";

/**
 * Performs faults at their times, also several at once; one to a process that is not back from the one before waits.
 * Resolves when all that began before `until` are over.
 */
export async function playFaults(
  planned: readonly PlannedFault[],
  { cluster, until, told }: { readonly cluster: Cluster; readonly until: number; told(fault: Fault): void },
): Promise<readonly PerformedFault[]> {
  const began = Date.now();
  const performed: PerformedFault[] = [];
  const lines = new Map<string, Promise<void>>();
  for (const { atMs, fault } of planned) {
    await setTimeout(Math.max(0, began + atMs - Date.now()));
    const perform = async () => {
      if (Date.now() > until) return;
      told(fault);
      const at = Date.now();
      await performFault(fault, cluster);
      performed.push({ fault, at, until: Date.now() });
    };
    const names = linesOf(fault);
    const after = Promise.all(names.map((name) => lines.get(name)));
    const performing = after.then(perform);
    for (const name of names) lines.set(name, performing);
  }
  await Promise.all(lines.values());
  return performed.sort((a, b) => a.at - b.at);
}

/** What a fault waits for: what is done to its process, and of a rolling restart the process before. */
function linesOf(fault: Fault): readonly string[] {
  if (fault.kind === "restart") return [fault.process, "restart"];
  return "process" in fault ? [fault.process] : [fault.kind];
}
