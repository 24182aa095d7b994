import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Append, AppendResult, Journal } from "../../ports/journal.ts";
import { CommitMark, type Mark, readMark } from "./commit-mark.ts";
import { isReadable } from "./lock-probe.ts";
import { toStorageFailure } from "./storage-failure.ts";

/** A look at the files may be this old, where a request asks for one. A commit has its own, before and behind the write. */
const LOOK_EVERY_MS = 5;

/** A journal that writes nothing which could not be read again, and notices what an earlier process wrote and is gone. */
export class GuardedJournal {
  readonly journal: Journal;
  readonly #path: string;
  readonly #mark: CommitMark;
  readonly #identity: FileIdentity;
  #last: Mark | undefined;
  #lookedAt = 0;
  #lost: PawlError | undefined;
  /** So many writes are under way, and since when they are, or the one before has ended. */
  #writes = 0;
  #writingSince: number | undefined;
  #failure: PawlError | undefined;
  /** When the last commit was made, by `performance.now()`. */
  committedAt = Number.NEGATIVE_INFINITY;

  /** `path` is the journal's, `inner` is open. Throws `JOURNAL_IO`, `JOURNAL_FULL`. */
  constructor(path: string, inner: Journal) {
    this.#path = path;
    try {
      this.#last = readMark(`${path}-mark`);
      this.#identity = new FileIdentity(path);
      this.#mark = new CommitMark(`${path}-mark`);
    } catch (error) {
      throw toStorageFailure(error, path) ?? error;
    }
    this.journal = {
      ...inner,
      append: (entries, token) => this.#append(inner, entries, token),
      deleteRun: async (run) => {
        this.#refuseLost();
        const isDeleted = await inner.deleteRun(run);
        if (isDeleted && this.#last?.run === run) this.#note({ run: 0, seq: 0 });
        return isDeleted;
      },
      finishOutbox: async (ids) => {
        this.#refuseLost();
        return inner.finishOutbox(ids);
      },
      close: async () => {
        this.#mark.close();
        await inner.close();
      },
    };
  }

  /** What an earlier process has committed and is not there any more. Undefined: nothing. */
  async findLoss(): Promise<string | undefined> {
    const mark = this.#last;
    if (mark === undefined || mark.run === 0) return undefined;
    const record = await this.journal.readRun(mark.run);
    if (record !== undefined && record.lastSeq >= mark.seq) return undefined;
    const [newest] = await this.journal.listRuns({ limit: 1 });
    const missing = mark.run - (newest?.no ?? 0);
    const runs = missing > 0 ? `${missing} of the last runs` : "the last steps of a run";
    return `${this.#path} ends before what had been acknowledged: ${runs} are gone. Its log was lost or cut short while no Pawl was running.`;
  }

  /** Why nothing can be kept at the moment. `patienceMs`: how long a write may take. */
  findTrouble(patienceMs: number): PawlError | undefined {
    this.#look();
    if (this.#lost !== undefined) return this.#lost;
    const since = this.#writingSince;
    if (since === undefined || performance.now() - since < patienceMs) return this.#failure;
    return (
      this.#failure ??
      new PawlError("JOURNAL_IO", { message: `${this.#path}: a write has been under way for too long.` })
    );
  }

  #append(inner: Journal, entries: readonly Append[], token: string | undefined): Promise<readonly AppendResult[]> {
    try {
      // A log that was lost a moment ago would take the commit, and nobody could ever read it.
      this.#refuseLost({ isFresh: true });
    } catch (error) {
      return Promise.reject(error);
    }
    this.#writes += 1;
    this.#writingSince ??= performance.now();
    return inner.append(entries, token).then(
      (results) => {
        this.#writes -= 1;
        this.#writingSince = this.#writes === 0 ? undefined : performance.now();
        this.#failure = undefined;
        // Or it was lost while the write was under way.
        this.#refuseLost({ isFresh: true });
        this.committedAt = performance.now();
        const last = findLast(entries, results);
        if (last !== undefined) this.#note(last);
        return results;
      },
      (error: unknown) => {
        this.#writes -= 1;
        this.#failure = toStorageFailure(error, this.#path);
        throw error;
      },
    );
  }

  #note(mark: Mark): void {
    this.#last = mark;
    this.#mark.write(mark);
  }

  #refuseLost({ isFresh = false } = {}): void {
    this.#look(isFresh ? 0 : LOOK_EVERY_MS);
    if (this.#lost !== undefined) throw this.#lost;
  }

  #look(everyMs = LOOK_EVERY_MS): void {
    const now = performance.now();
    if (this.#lost !== undefined || now - this.#lookedAt < everyMs) return;
    this.#lookedAt = now;
    const found = this.#identity.check();
    if (found === "same") return;
    const reason = found === "cut" ? this.#explainCut() : found.lost;
    if (reason !== undefined) this.#lost = new PawlError("DATA_LOST", { message: `${reason}.` });
  }

  /** Whether the last commit is still there for a reader that has seen nothing of it. */
  #explainCut(): string | undefined {
    if (this.#last === undefined || this.#last.run === 0) return undefined;
    return isReadable(this.#path, this.#last) ? undefined : `${this.#path}-wal was cut short while it was in use`;
  }
}

function findLast(entries: readonly Append[], results: readonly AppendResult[]): Mark | undefined {
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry !== undefined && results[index]?.ok === true)
      return { run: entry.run, seq: entry.afterSeq + entry.events.length };
  }
  return undefined;
}

/**
 * Tells whether a journal's file, its folder and its log are still those that were opened. SQLite goes on writing into a
 * file that was deleted or replaced, and nobody ever reads it again.
 */
class FileIdentity {
  readonly #path: string;
  readonly #folder: Stats;
  readonly #file: Stats;
  #log: { readonly ino: number; size: number } | undefined;

  /** Throws what the system throws. */
  constructor(path: string) {
    this.#path = path;
    this.#folder = statSync(dirname(path));
    this.#file = statSync(path);
  }

  /** What has happened to them. `cut`: the log has become shorter, as it does where a program checkpoints it, too. */
  check(): "same" | "cut" | { readonly lost: string } {
    const folder = statSync(dirname(this.#path), { throwIfNoEntry: false });
    if (!isSame(folder, this.#folder)) return { lost: describe(dirname(this.#path), folder) };
    const file = statSync(this.#path, { throwIfNoEntry: false });
    if (!isSame(file, this.#file)) return { lost: describe(this.#path, file) };
    return this.#checkLog(`${this.#path}-wal`);
  }

  #checkLog(path: string): ReturnType<FileIdentity["check"]> {
    const log = statSync(path, { throwIfNoEntry: false });
    const known = this.#log;
    if (known === undefined || log === undefined || log.ino !== known.ino) {
      if (known !== undefined) return { lost: describe(path, log) };
      if (log !== undefined) this.#log = { ino: log.ino, size: log.size };
      return "same";
    }
    const wasCut = log.size < known.size;
    known.size = log.size;
    return wasCut ? "cut" : "same";
  }
}

function isSame(now: Stats | undefined, then: Stats): boolean {
  return now !== undefined && now.ino === then.ino && now.dev === then.dev;
}

function describe(path: string, now: Stats | undefined): string {
  return `${path} was ${now === undefined ? "deleted" : "replaced"} while it was in use`;
}
