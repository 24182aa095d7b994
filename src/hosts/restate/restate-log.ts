import { ChurnMap } from "../../core/churn-map.ts";
import type { Append, AppendResult, RunNo } from "../../ports/journal.ts";
import { CommitQueue, type CommitQueueOptions } from "../session/commit-queue.ts";
import type { LiveRun } from "../session/live-run.ts";
import type { Committer, HostLog } from "../session/session-log.ts";
import { type CommitEntry, isLarge, toCommitEntry } from "./run-entry.ts";

/** A log whose commits stand in Restate's entries and in our records. A run whose invocation is away holds up no other run. */
export class RestateLog implements HostLog {
  readonly #queue: CommitQueue;
  readonly #unattended: (run: LiveRun) => void;
  readonly #runs = new ChurnMap<RunNo, RunCommits>();
  /** Those that have had something to commit. */
  readonly #byId = new ChurnMap<string, RunCommits>();
  /** Runs that are being created here: Restate is told of them when our records have them. */
  readonly #created = new ChurnMap<RunNo, true>();
  #isEnding = false;

  /** `unattended`: the run has something to commit, and no invocation of Restate waits for it. */
  constructor(options: CommitQueueOptions, unattended: (run: LiveRun) => void) {
    this.#queue = new CommitQueue(options);
    this.#unattended = unattended;
  }

  /** The run with this number is about to be created here. */
  create(no: RunNo): void {
    this.#created.set(no, true);
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

interface RunCommitsParts {
  /** Takes the run into the next commit to our records. */
  write(commits: RunCommits): void;
  /** The run has something to commit, and no entry waits for it. */
  unattended(commits: RunCommits): void;
  left(commits: RunCommits): void;
  /** The process ends: what is left is written without Restate, and is not waited for. */
  isEnding(): boolean;
}

/** A commit that Restate has not confirmed. */
interface OpenCommit {
  readonly lastSeq: number;
  readonly isEnd: boolean;
  /** Undefined: our records have refused it, and the run has left memory. */
  readonly entry: PromiseWithResolvers<CommitEntry | undefined>;
  readonly written: PromiseWithResolvers<AppendResult | undefined>;
}

/** The commits of a run in memory. A commit is written to Restate's journal and our records at the same time, before its commands are performed. */
class RunCommits implements Committer {
  readonly #parts: RunCommitsParts;
  /** Undefined: it is being loaded, or has had nothing to commit so far. */
  run: LiveRun | undefined;
  #waiting: (PromiseWithResolvers<CommitEntry | undefined> & { readonly isLast: boolean }) | undefined;
  #open: OpenCommit | undefined;
  #isDirty = false;
  /** Restate is told of a run when our records have it. */
  #isCreating: boolean;
  /** No invocation has asked for it so far: the process that has created it tells Restate. */
  #isNew: boolean;
  #isLeft = false;

  constructor(parts: RunCommitsParts, isCreating: boolean) {
    this.#parts = parts;
    this.#isCreating = isCreating;
    this.#isNew = isCreating;
  }

  get #isDirect(): boolean {
    return this.#isCreating || this.#parts.isEnding();
  }

  mark(): void {
    this.#isDirty = true;
    this.#goOn();
  }

  /** The next commit, for an entry of Restate; an earlier call never resolves. `isLast`: our records must have it first. Undefined: the run has left. */
  async next(isLast: boolean): Promise<CommitEntry | undefined> {
    this.#waiting = undefined;
    this.#isNew = false;
    if (this.#isLeft) return undefined;
    const open = this.#open;
    if (open !== undefined) {
      if (isLast) await open.written.promise;
      return open.entry.promise;
    }
    const waiting = { ...Promise.withResolvers<CommitEntry | undefined>(), isLast };
    this.#waiting = waiting;
    this.#goOn();
    return waiting.promise;
  }

  /** Restate has the entry. Resolves when our records have the commit too, and its commands are performed. */
  async confirm(lastSeq: number): Promise<void> {
    const open = this.#open;
    if (open === undefined || open.lastSeq !== lastSeq) return;
    const result = await open.written.promise;
    if (this.#open !== open || result === undefined) return;
    this.#open = undefined;
    this.#tell(result);
    if (open.isEnd) this.leave();
  }

  /** The process ends. */
  async finishDirectly(): Promise<void> {
    if (this.#open !== undefined) await this.confirm(this.#open.lastSeq);
    this.#goOn();
  }

  leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#waiting?.resolve(undefined);
    this.#open?.entry.resolve(undefined);
    this.#open?.written.resolve(undefined);
    this.#parts.left(this);
  }

  #goOn(): void {
    if (!this.#isDirty || this.#isLeft) return;
    if (this.#mayCommit) this.#parts.write(this);
    else if (!this.#isNew && this.#waiting === undefined && this.#open === undefined) this.#parts.unattended(this);
  }

  get #mayCommit(): boolean {
    return this.#open === undefined && (this.#isDirect || this.#waiting !== undefined);
  }

  // --- Our records ---

  get isCommitting(): boolean {
    return this.#open !== undefined;
  }

  /** An entry waits for what was marked meanwhile. */
  get hasMore(): boolean {
    return this.#isDirty && this.#mayCommit && !this.#isLeft;
  }

  collect(): Append | undefined {
    if (!this.#mayCommit || this.#isLeft) return undefined;
    this.#isDirty = false;
    const append = this.run?.collect();
    if (append === undefined) return undefined;
    const entry = toCommitEntry(append);
    const waiting = this.#waiting;
    const { lastSeq, isEnd } = entry;
    const open = { lastSeq, isEnd, entry: waiting ?? Promise.withResolvers(), written: Promise.withResolvers() };
    this.#open = open as OpenCommit;
    this.#waiting = undefined;
    if (waiting?.isLast === false && !isEnd && !isLarge(entry)) waiting.resolve(entry);
    return append;
  }

  committed(result: AppendResult): void {
    const open = this.#open;
    if (open === undefined) return;
    open.written.resolve(result);
    const { lastSeq, isEnd } = open;
    if (result.ok) open.entry.resolve({ type: "committed", lastSeq, isEnd });
    else this.#tell(result);
    if (!this.#isDirect) return;
    this.#isCreating = false;
    void this.confirm(lastSeq);
  }

  failed(error: unknown): void {
    this.run?.failed(error);
    this.leave();
  }

  #tell(result: AppendResult): void {
    this.run?.committed(result);
    if (this.run?.isDiscarded === true) this.leave();
  }
}
