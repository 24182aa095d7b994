import type { EventRow } from "../ports/journal.ts";
import type { Application } from "./application.ts";
import { findRun } from "./find-run.ts";

const PAGE = 1_000;

/** A run's events as recorded, oldest first, without their values; a page in memory at a time. */
export async function* readRunEvents(app: Application, idOrPrefix: string): AsyncGenerator<EventRow> {
  const record = await findRun(app, idOrPrefix);
  const { journal } = await app.records();
  for (let afterSeq = 0; ; ) {
    const rows = await journal.readEvents(record.no, { afterSeq, limit: PAGE });
    for (const row of rows) yield { ...row, event: withoutSealed(row.event) };
    afterSeq = rows.at(-1)?.seq ?? afterSeq;
    if (rows.length < PAGE) return;
  }
}

/** Sealed secrets say nothing to anybody, and are not handed out all the same. */
function withoutSealed(event: EventRow["event"]): EventRow["event"] {
  if (!("sealed" in event)) return event;
  const { sealed: _, ...rest } = event;
  return rest;
}
