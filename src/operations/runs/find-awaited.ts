import { waitsForOthers } from "../../core/interpreter/run-status.ts";
import { rebuildRun } from "../../hosts/session/rebuild-run.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { Stores } from "../application/ports.ts";

type Graphs = Parameters<typeof rebuildRun>[2];

export interface Awaited {
  /** A person or an event from outside has to come; no hour of the clock alone ends the wait well. */
  readonly isOthers: boolean;
  /** A person laid the run down. */
  readonly isHeld: boolean;
  readonly events: readonly string[];
}

/** Finds the events that a parked run waits for, by its state. `graphs`: those at hand; those that are read are added. */
export async function findAwaited(
  app: Pick<Stores, "records">,
  record: RunRecord,
  graphs: Graphs = new Map(),
): Promise<Awaited> {
  const { journal } = await app.records();
  const { state } = await rebuildRun(journal, record, graphs);
  return { isOthers: waitsForOthers(state), isHeld: state.isHeld, events: [...state.waiters.keys()] };
}
