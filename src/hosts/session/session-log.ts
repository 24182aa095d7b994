import type { Append, AppendResult } from "../../ports/journal.ts";

/** Makes what runs have applied durable, and tells each run what became of its commit. */
export interface SessionLog {
  /** The run has something to commit. */
  mark(run: Committer): void;
}

export interface HostLog extends SessionLog {
  /** Resolves when nothing is left to commit. */
  drained(): Promise<void>;
  /** The process ends: tries once more at once, and from then on a commit that fails is refused. */
  giveUpRetries(): void;
  /** Takes no more runs, and drops those that were marked and not committed. */
  close(): void;
}

export interface Committer {
  /** Something that it has given to `collect` is neither committed nor failed. */
  readonly isCommitting: boolean;
  /** It has something to commit. */
  readonly hasMore: boolean;
  /** Everything since the last call, or undefined if there is nothing. Called once per commit. */
  collect(): Append | undefined;
  /** The commit is durable, or this entry of it was refused. */
  committed(result: AppendResult): void;
  /** The commit cannot be written, now or later. */
  failed(error: unknown): void;
}
