import { ChurnMap, ChurnSet } from "../../core/churn-map.ts";
import type { RunNo } from "../../ports/journal.ts";
import { CommitQueue, type CommitQueueOptions } from "../session/commit-queue.ts";
import type { LiveRun } from "../session/live-run.ts";
import type { HostLog } from "../session/session-log.ts";
import { RunCommits } from "./run-commits.ts";

/**
 * A log whose commits stand in entries of Restate and in our records. Our records are written by group commits of all runs; a
 * run whose invocation is away holds up no other.
 */
export class RestateLog implements HostLog {
  readonly #queue: CommitQueue;
  readonly #unattended: (run: LiveRun) => void;
  readonly #runs = new ChurnMap<RunNo, RunCommits>();
  /** Those that have had something to commit. */
  readonly #byId = new ChurnMap<string, RunCommits>();
  /** Runs that are being created here: Restate is told of them when our records have them. */
  readonly #created = new ChurnSet<RunNo>();
  #isEnding = false;

  /** `unattended`: the run has something to commit, and no invocation of Restate waits for it. */
  constructor(options: CommitQueueOptions, unattended: (run: LiveRun) => void) {
    this.#queue = new CommitQueue(options);
    this.#unattended = unattended;
  }

  /** The run with this number is about to be created here. */
  create(no: RunNo): void {
    this.#created.add(no);
  }

  mark(run: LiveRun): void {
    let commits = this.#runs.get(run.no);
    if (commits?.run !== undefined && commits.run !== run) {
      commits.leave();
      commits = undefined;
    }
    commits ??= this.open(run.no);
    if (commits.run === undefined) {
      commits.run = run;
      this.#byId.set(run.runId, commits);
    }
    commits.mark();
  }

  find(no: RunNo): RunCommits | undefined {
    return this.#runs.get(no);
  }

  /** Undefined: the run is not in memory, or has had nothing to commit in it. */
  findNumber(runId: string): RunNo | undefined {
    return this.#byId.get(runId)?.run?.no;
  }

  /** The commits of a run that is loaded or created now. */
  open(no: RunNo): RunCommits {
    const isNew = this.#created.delete(no);
    const commits = new RunCommits(
      {
        write: (written) => this.#queue.mark(written),
        unattended: ({ run }) => {
          if (run !== undefined) this.#unattended(run);
        },
        left: (left) => {
          if (this.#runs.get(no) !== left) return;
          this.#runs.delete(no);
          if (left.run !== undefined) this.#byId.delete(left.run.runId);
        },
        isEnding: () => this.#isEnding,
      },
      isNew,
    );
    this.#runs.set(no, commits);
    return commits;
  }

  /** The run is not in memory any more, if it is not in it again. */
  unloaded(no: RunNo): void {
    const commits = this.#runs.get(no);
    if (commits?.run === undefined || commits.run.isDiscarded) commits?.leave();
  }

  giveUpRetries(): void {
    this.#isEnding = true;
    this.#queue.giveUpRetries();
    for (const commits of [...this.#runs.values()]) void commits.finishDirectly();
  }

  drained(): Promise<void> {
    return this.#queue.drained();
  }

  close(): void {
    for (const commits of [...this.#runs.values()]) commits.leave();
    this.#queue.close();
  }
}
