import type { EventRow, Journal, RunNo } from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";

const PAGE = 500;

/** The events of a run behind one of them, oldest first, without their values; a page in memory at a time. */
export async function* eachEvent(
  journal: Pick<Journal, "readEvents">,
  run: RunNo,
  afterSeq = 0,
): AsyncGenerator<EventRow> {
  for (let last = afterSeq; ; ) {
    await passTurn();
    const rows = await journal.readEvents(run, { afterSeq: last, limit: PAGE });
    yield* rows;
    const next = rows.at(-1)?.seq;
    if (next === undefined || rows.length < PAGE) return;
    last = next;
  }
}
