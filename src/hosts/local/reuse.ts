import { PawlError } from "../../core/errors/pawl-error.ts";
import type { RunStarted, StepSucceeded } from "../../core/history/events.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { Downstream } from "../../core/interpreter/downstream.ts";
import type { Journal, RunNo } from "../../ports/journal.ts";

export type Lineage = NonNullable<RunStarted["lineage"]>;

/** Outcomes of the run that another one is a rerun or fork of. */
export interface ReusableOutcomes {
  readonly run: string;
  readonly no: RunNo;
  readonly byPath: ReadonlyMap<string, Reusable>;
  /** What is to be done again, and all that depends on it. */
  readonly downstream: Downstream;
}

interface Reusable {
  readonly seq: number;
  readonly event: StepSucceeded;
}

const PAGE = 10_000;

export async function loadReusable(journal: Journal, { run, fromPath }: Lineage): Promise<ReusableOutcomes> {
  const record = await journal.findRun(run);
  if (record === undefined || record === "ambiguous") {
    throw new PawlError("RUN_NOT_FOUND", { message: `The run "${run}" that this one repeats is not there.` });
  }
  const byPath = new Map<string, Reusable>();
  for (let afterSeq = 0; ; afterSeq += PAGE) {
    const rows = await journal.readEvents(record.no, { afterSeq, limit: PAGE });
    for (const { seq, event } of rows) {
      if (event.type === "stepSucceeded" && event.inputHash !== undefined) byPath.set(event.path, { seq, event });
    }
    if (rows.length < PAGE) return { run: record.id, no: record.no, byPath, downstream: new Downstream(fromPath) };
  }
}

/** An old outcome counts only if its instance is live again, on the same input, and nothing before it is done again. */
export function findReusable(
  { byPath, downstream }: ReusableOutcomes,
  instance: Instance,
  inputHash: string,
): Reusable | undefined {
  const found = byPath.get(instance.path);
  if (found === undefined || instance.attempt !== 1 || found.event.inputHash !== inputHash) return undefined;
  return downstream.has(instance) ? undefined : found;
}
