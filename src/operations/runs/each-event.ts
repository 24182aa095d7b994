import type { EventRow, Journal, RunFilter, RunNo, RunRecord } from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";

const PAGE = 500;
const RUNS_PAGE = 200;

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

/** Runs newest first, or oldest first from `afterRun`; a page in memory at a time, and others have a turn between two runs. */
export async function* eachRun(
  journal: Pick<Journal, "listRuns">,
  wanted: Omit<RunFilter, "limit" | "offset">,
): AsyncGenerator<RunRecord> {
  for (let place = wanted; ; ) {
    const page = await journal.listRuns({ ...place, limit: RUNS_PAGE });
    for (const run of page) {
      await passTurn();
      yield run;
    }
    const last = page.at(-1)?.no;
    if (last === undefined || page.length < RUNS_PAGE) return;
    place = wanted.afterRun === undefined ? { ...wanted, beforeRun: last } : { ...wanted, afterRun: last };
  }
}
