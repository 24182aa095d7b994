import { parseExact } from "../core/exact-json.ts";
import type { EventRow, LoggedEvent, LoggedRun, LogPage, LogPosition, LogQuery, RunNo } from "../ports/journal.ts";
import type { EntryFacts } from "./append-rule.ts";

/**
 * The events of one commit, and of the commits directly after it that only continued its last run. A run that is alone
 * writes nothing here, so that a step in sequence touches no second page.
 */
export interface Commit {
  readonly no: number;
  /** The time of the first of these commits. */
  readonly at: number;
  /**
   * A JSON list: how many events continued the commit before, then for each part its run, the run's last sequence number
   * before, and the number of events.
   */
  readonly entries: string;
}

/** The last part, which the next commit may continue. */
export interface OpenPart {
  readonly run: RunNo;
  /** Its last event, and the last one that stands in its commit. */
  readonly lastSeq: number;
  readonly writtenSeq: number;
}

/** The effect of a batch on the order of all runs. */
export interface Logged {
  /** The row to write. Absent if the batch holds no events, or only continues the open part. */
  readonly commit?: Omit<Commit, "no">;
  readonly open: OpenPart | undefined;
}

/** The stored rows that a log is made of. */
interface LogSource {
  /** From the number on, so many of them. */
  commits(no: number, limit: number): readonly Commit[];
  run(no: RunNo): LoggedRun | undefined;
  tenantOfDeleted(no: RunNo): string | undefined;
  events(run: RunNo, afterSeq: number, limit: number): readonly EventRow[];
  /** Undefined: the run was deleted. */
  lastSeq(run: RunNo): number | undefined;
}

interface Part {
  readonly run: RunNo;
  readonly afterSeq: number;
  readonly count: number;
}

/** `written`: the entries of the batch that were accepted. */
export function logBatch(written: Iterable<EntryFacts>, open: OpenPart | undefined): Logged {
  let last: EntryFacts | undefined;
  let parts = "";
  let count = 0;
  let at = 0;
  for (const entry of written) {
    if (entry.count === 0) continue;
    parts += `,${entry.run},${entry.afterSeq},${entry.count}`;
    count += 1;
    at = Math.max(at, entry.at);
    last = entry;
  }
  if (last === undefined) return { open };
  const lastSeq = last.afterSeq + last.count;
  if (count === 1 && open?.run === last.run && open.lastSeq === last.afterSeq) return { open: { ...open, lastSeq } };
  const wentOn = open === undefined ? 0 : open.lastSeq - open.writtenSeq;
  return {
    commit: { at, entries: `[${wentOn}${parts}]` },
    open: { run: last.run, lastSeq, writtenSeq: lastSeq },
  };
}

/** The open part after the newest commit. */
export function openPartOf(newest: Commit | undefined, source: Pick<LogSource, "lastSeq">): OpenPart | undefined {
  const last = newest === undefined ? undefined : readCommit(newest).parts.at(-1);
  if (last === undefined) return undefined;
  const writtenSeq = last.afterSeq + last.count;
  return { run: last.run, lastSeq: source.lastSeq(last.run) ?? writtenSeq, writtenSeq };
}

/** The position after a commit and those that only continued it. Undefined if there is no such commit. */
export function findPosition(no: number, source: Pick<LogSource, "commits" | "lastSeq">): LogPosition | undefined {
  const [commit, next] = source.commits(no, 2);
  if (commit?.no !== no) return undefined;
  let index = 0;
  for (const { count } of partsOf(commit, next, source)) index += count;
  return { commit: no, at: commit.at, index };
}

/** What is asked for of a part that begins at a place and holds `count` events: those behind `after`, at most `left`. */
export function cutPart(
  begin: LogPosition,
  count: number,
  { after, left }: { readonly after: LogPosition; readonly left: number },
) {
  const skipped = begin.commit === after.commit ? Math.min(count, Math.max(0, after.index - begin.index)) : 0;
  const taken = Math.min(count - skipped, left);
  const positionOf = (nth: number): LogPosition => ({ ...begin, index: begin.index + skipped + nth });
  return { skipped, taken, positionOf };
}

/** Implements `Journal.readLog` for every journal. */
export function readLog({ after, limit, tenantId }: LogQuery, source: LogSource): LogPage {
  const events: LoggedEvent[] = [];
  let missed = 0;
  let left = limit;
  let end = after;
  for (const { commit, next } of eachCommit(after.commit, source)) {
    let index = 0;
    for (const { run: no, afterSeq, count } of partsOf(commit, next, source)) {
      if (left === 0) return { events, end, missed };
      const { skipped, taken, positionOf } = cutPart({ commit: commit.no, at: commit.at, index }, count, {
        after,
        left,
      });
      index += count;
      if (taken === 0) continue;
      left -= taken;
      end = positionOf(taken);
      const run = source.run(no);
      const owner = run === undefined ? source.tenantOfDeleted(no) : run.tenantId;
      if (tenantId !== undefined && owner !== tenantId) continue;
      if (run === undefined) missed += taken;
      else {
        const rows = source.events(no, afterSeq + skipped, taken);
        for (const [nth, row] of rows.entries()) events.push({ ...row, run, position: positionOf(nth + 1) });
      }
    }
  }
  return { events, end, missed };
}

const COMMITS_AT_ONCE = 8;

/** From one on, each with the next one, which says how it went on. Few at a time: one may hold thousands of runs. */
function* eachCommit(first: number, source: Pick<LogSource, "commits">): Generator<{ commit: Commit; next?: Commit }> {
  for (let from = first; ; ) {
    const commits = source.commits(from, COMMITS_AT_ONCE + 1);
    for (const [n, commit] of commits.slice(0, COMMITS_AT_ONCE).entries()) yield { commit, next: commits[n + 1] };
    const last = commits[COMMITS_AT_ONCE];
    if (last === undefined) return;
    from = last.no;
  }
}

/** The parts with the events that continued the last one. The next commit says how many; for the newest, its run does. */
function partsOf(commit: Commit, next: Commit | undefined, source: Pick<LogSource, "lastSeq">): readonly Part[] {
  const { parts } = readCommit(commit);
  const last = parts.at(-1);
  if (last === undefined) return [];
  const writtenSeq = last.afterSeq + last.count;
  const wentOn = next === undefined ? (source.lastSeq(last.run) ?? writtenSeq) - writtenSeq : readCommit(next).wentOn;
  return wentOn === 0 ? parts : parts.with(-1, { ...last, count: last.count + wentOn });
}

export function readCommit({ entries }: Commit): { readonly wentOn: number; readonly parts: readonly Part[] } {
  const [wentOn = 0, ...numbers]: readonly number[] = parseExact(entries);
  const parts: Part[] = [];
  for (let n = 0; n + 2 < numbers.length; n += 3) {
    const [run = 0, afterSeq = 0, count = 0] = numbers.slice(n, n + 3);
    parts.push({ run, afterSeq, count });
  }
  return { wentOn, parts };
}
