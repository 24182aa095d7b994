import type {
  Append,
  AppendResult,
  EventRow,
  LoggedEvent,
  LoggedRun,
  LogPage,
  LogPosition,
  LogQuery,
  RunNo,
} from "../ports/journal.ts";
import { timeOf } from "./append-rule.ts";

/** What one commit has added to the runs, as it is stored. */
export interface Commit {
  readonly no: number;
  readonly at: number;
  /** A JSON list, three numbers for each part: the run, its last sequence number before, how many events. */
  readonly entries: string;
}

/** Where a log reads from. */
interface LogSource {
  /** From the one on that a position names, as many as a page may need. */
  readonly commits: readonly Commit[];
  run(no: RunNo): LoggedRun | undefined;
  tenantOfDeleted(no: RunNo): string | undefined;
  events(run: RunNo, afterSeq: number, limit: number): readonly EventRow[];
}

/** Undefined: nothing of it is an event. */
export function toCommitted(
  entries: readonly Append[],
  results: readonly AppendResult[],
): Omit<Commit, "no"> | undefined {
  const numbers: number[] = [];
  let at = 0;
  for (const [n, entry] of entries.entries()) {
    if (results[n]?.ok !== true || entry.events.length === 0) continue;
    numbers.push(entry.run, entry.afterSeq, entry.events.length);
    at = Math.max(at, timeOf(entry));
  }
  return numbers.length === 0 ? undefined : { at, entries: JSON.stringify(numbers) };
}

export function endOf(commit: Commit): LogPosition {
  let index = 0;
  for (const { count } of partsOf(commit)) index += count;
  return { commit: commit.no, at: commit.at, index };
}

/** As `Journal.readLog`, the same in every journal. */
export function readLog({ after, limit, tenantId }: LogQuery, source: LogSource): LogPage {
  const events: LoggedEvent[] = [];
  let missed = 0;
  let left = limit;
  let end = after;
  for (const commit of source.commits) {
    let index = 0;
    for (const { run: no, afterSeq, count } of partsOf(commit)) {
      if (left === 0) return { events, end, missed };
      const skipped = commit.no === after.commit ? Math.min(count, Math.max(0, after.index - index)) : 0;
      const taken = Math.min(count - skipped, left);
      const from = index + skipped;
      index += count;
      if (taken === 0) continue;
      left -= taken;
      const positionOf = (n: number) => ({ commit: commit.no, at: commit.at, index: from + n });
      end = positionOf(taken);
      const run = source.run(no);
      const owner = run === undefined ? source.tenantOfDeleted(no) : run.tenantId;
      if (tenantId !== undefined && owner !== tenantId) continue;
      if (run === undefined) missed += taken;
      else {
        const rows = source.events(no, afterSeq + skipped, taken);
        for (const [n, row] of rows.entries()) events.push({ ...row, run, position: positionOf(n + 1) });
      }
    }
  }
  return { events, end, missed };
}

function* partsOf({ entries }: Commit): Generator<{ run: RunNo; afterSeq: number; count: number }> {
  const numbers: readonly number[] = JSON.parse(entries);
  for (let n = 0; n + 2 < numbers.length; n += 3) {
    const [run = 0, afterSeq = 0, count = 0] = numbers.slice(n, n + 3);
    yield { run, afterSeq, count };
  }
}
