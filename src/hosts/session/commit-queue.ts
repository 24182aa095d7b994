import { randomUUID } from "node:crypto";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Append, AppendResult, Journal } from "../../ports/journal.ts";
import type { Committer, HostLog } from "./session-log.ts";

export interface CommitQueueOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  /** On the main thread a commit blocks the event loop: small ones keep it responsive. */
  readonly maxRowsPerCommit: number;
  /** The pause before a commit that failed is tried again, and the longest one. */
  readonly firstRetryMs: number;
  readonly retryMs: number;
  /** Nothing can be written: the collected entries are kept and tried again. `undefined`: they have been written. */
  stalled(error: PawlError | undefined): void;
  /** A defect: a committer threw. */
  broken(error: unknown): void;
}

interface TriedCommit {
  readonly committers: readonly Committer[];
  readonly entries: readonly Append[];
  readonly token: string;
  readonly pauseMs: number;
}

/** Commits may follow each other for this long before other work of the process gets its turn. */
const MAX_TURN_MS = 4;

/** So few runs share one commit: two would cost more than they gain. */
const MIN_DIVIDED = 16;

/**
 * Group commit across all runs of the process: everything that has become ready since the last turn of the event loop
 * shares one commit, or two where the journal writes elsewhere, so that the runs of one go on here while the other is being
 * written. A run is in one commit at a time, and its events keep their order.
 */
export class CommitQueue implements HostLog {
  readonly #options: CommitQueueOptions;
  readonly #commitsAtOnce: number;
  #dirty = new Set<Committer>();
  /** So many runs are in a commit. */
  #committing = 0;
  readonly #name = `${randomUUID()} `;
  #lastBatch = 0;
  #isScheduled = false;
  #turnBegan = 0;
  #commits = 0;
  #isClosed = false;
  #hasGivenUp = false;
  /** The commits that have failed and are tried until they go through. */
  readonly #stalled = new Set<string>();
  /** Each ends the pause before one of them is tried again. */
  readonly #pauses = new Set<() => void>();
  #idle: (() => void)[] = [];

  constructor(options: CommitQueueOptions) {
    this.#options = options;
    this.#commitsAtOnce = options.journal.commitsAtOnce ?? 1;
  }

  mark(committer: Committer): void {
    // What comes during its commit is found behind it.
    if (this.#isClosed || committer.isCommitting) return;
    this.#dirty.add(committer);
    if (!this.#isScheduled && this.#commits < this.#commitsAtOnce) this.#scheduleTurn();
  }

  /** Resolves when nothing is left to commit. */
  async drained(): Promise<void> {
    if (this.#dirty.size === 0 && this.#commits === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Tries once more at once. From then on a commit that fails is refused. */
  giveUpRetries(): void {
    this.#hasGivenUp = true;
    for (const tryAgain of [...this.#pauses]) tryAgain();
  }

  /** Takes no more runs, and drops those that were marked and not committed. */
  close(): void {
    this.#isClosed = true;
    this.#dirty.clear();
  }

  #scheduleTurn(): void {
    this.#isScheduled = true;
    setImmediate(this.#beginTurn);
  }

  // Bound once, like `#goOn`: they run after every step.
  readonly #beginTurn = (): void => {
    this.#isScheduled = false;
    this.#turnBegan = performance.now();
    this.#commitDirty();
  };

  #commitDirty(): void {
    while (this.#dirty.size > 0 && this.#commits < this.#commitsAtOnce) {
      const { committers, entries } = this.#collect();
      if (entries.length > 0) this.#commit(committers, entries);
    }
    if (this.#commits === 0) this.#becomeIdle();
  }

  #commit(committers: readonly Committer[], entries: readonly Append[]): void {
    this.#commits += 1;
    this.#committing += committers.length;
    // Whether a commit went through may stay unknown, so each has a name.
    this.#lastBatch += 1;
    const token = `${this.#name}${this.#lastBatch}`;
    this.#options.journal.append(entries, token).then(
      (results) => this.#settle(committers, results),
      (error: unknown) => this.#retry({ committers, entries, token, pauseMs: this.#options.firstRetryMs }, error),
    );
  }

  #settle(committers: readonly Committer[], results: readonly AppendResult[]): void {
    let index = 0;
    for (const committer of committers) {
      const result = results[index];
      index += 1;
      try {
        committer.committed(result ?? { ok: false, reason: "refused", message: "No result." });
        if (committer.hasMore && !this.#isClosed) this.#dirty.add(committer);
      } catch (error) {
        this.#options.broken(error);
      }
    }
    this.#finish(committers);
  }

  // Commands may have their outcome at once. By the next tick these outcomes have arrived, and can be committed without a
  // turn of the event loop, unless other work has been kept waiting for too long.
  #finish(committers: readonly Committer[]): void {
    this.#committing -= committers.length;
    process.nextTick(this.#goOn);
  }

  readonly #goOn = (): void => {
    this.#commits -= 1;
    if (this.#isScheduled) return;
    if (this.#dirty.size === 0 || performance.now() - this.#turnBegan < MAX_TURN_MS) this.#commitDirty();
    else this.#scheduleTurn();
  };

  /** Nothing is known to be written, so nothing is performed: the same entries are tried until they go through. */
  #retry(commit: TriedCommit, error: unknown): void {
    const { clock, retryMs, journal, stalled } = this.#options;
    // A damaged journal does not heal, so it is not tried again.
    if (!isPawlError(error) || !isStorageFailure(error) || this.#hasGivenUp) {
      this.#unstall(commit);
      for (const committer of commit.committers) committer.failed(error);
      this.#finish(commit.committers);
      return;
    }
    this.#stalled.add(commit.token);
    stalled(error);
    const tryAgain = () => {
      stop();
      this.#pauses.delete(tryAgain);
      journal.append(commit.entries, commit.token).then(
        (results) => {
          this.#unstall(commit);
          this.#settle(commit.committers, results);
        },
        (again: unknown) => this.#retry({ ...commit, pauseMs: Math.min(2 * commit.pauseMs, retryMs) }, again),
      );
    };
    const stop = clock.wakeAt(clock.now() + commit.pauseMs, tryAgain);
    this.#pauses.add(tryAgain);
  }

  #unstall({ token }: TriedCommit): void {
    if (this.#stalled.delete(token) && this.#stalled.size === 0) this.#options.stalled(undefined);
  }

  #becomeIdle(): void {
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }

  #collect(): { committers: Committer[]; entries: Append[] } {
    const committers: Committer[] = [];
    const entries: Append[] = [];
    const all = this.#dirty.size + this.#committing;
    const share = all < MIN_DIVIDED ? all : Math.ceil(all / this.#commitsAtOnce);
    let rows = 0;
    for (const committer of this.#dirty) {
      if (rows >= this.#options.maxRowsPerCommit || entries.length >= share) break;
      this.#dirty.delete(committer);
      const entry = committer.collect();
      if (entry === undefined) continue;
      committers.push(committer);
      entries.push(entry);
      rows += entry.events.length;
    }
    // Its tables would keep all runs that were ever in it, as `ChurnMap` explains.
    if (this.#dirty.size === 0) this.#dirty = new Set();
    return { committers, entries };
  }
}
