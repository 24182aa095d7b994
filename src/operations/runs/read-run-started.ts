import type { RunStarted } from "../../core/history/events.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { Application } from "../application/application.ts";

/** Reads the event that started a run. */
export async function readRunStarted(app: Pick<Application, "records">, record: RunRecord): Promise<RunStarted> {
  const { journal } = await app.records();
  const [first] = await journal.readEvents(record.no, { afterSeq: 0, limit: 1 });
  if (first?.event.type === "runStarted") return first.event;
  throw new Error(`The run ${record.id} does not begin with its start.`);
}
