import type { Append } from "../../ports/journal.ts";

/** What one entry of Restate's journal says of a run. The handler decides by it alone, so that a replay decides the same. */
export type RunEntry =
  | CommitEntry
  /** Nothing is to be done for so long, or until something is asked of the run. */
  | { readonly type: "waits"; readonly forMs?: number }
  | { readonly type: "ended" };

/** A commit of the session. */
export interface CommitEntry {
  readonly type: "committed";
  readonly lastSeq: number;
  readonly isEnd: boolean;
  /** What our records are to hold. Absent: it is large, and they had it before this entry was made. */
  readonly append?: Append;
}

/** Restate refuses messages of 32 MiB, and replays each entry. Commits that are larger than this stand in our records only. */
export const MAX_ENTRY_CHARS = 64 * 1024;

export function toCommitEntry(append: Append): CommitEntry {
  const { afterSeq, events, patch } = append;
  return { type: "committed", lastSeq: afterSeq + events.length, isEnd: patch?.completedAt !== undefined, append };
}
