import type { RunStarted } from "../../core/history/events.ts";
import type { Journal, RunRecord } from "../../ports/journal.ts";

/** Reads the event that started a run. Undefined: the run was deleted meanwhile. */
export async function readRunStarted(
  journal: Pick<Journal, "readEvents">,
  { no }: Pick<RunRecord, "no">,
): Promise<RunStarted | undefined> {
  const [first] = await journal.readEvents(no, { afterSeq: 0, limit: 1 });
  return first?.event.type === "runStarted" ? first.event : undefined;
}
