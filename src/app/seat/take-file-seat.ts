import { rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import type { Log } from "../../ports/log.ts";
import type { StandIns } from "../../ports/stand-ins.ts";
import { toFileFailure } from "../../storage/files/durable-write.ts";
import { holdRuns } from "../../storage/held-runs.ts";
import { GuardedJournal } from "../../storage/sqlite/guarded-journal.ts";
import { LockProbe } from "../../storage/sqlite/lock-probe.ts";
import type { AcquiredLock } from "../../storage/sqlite/owner-lock.ts";
import { openSqliteJournal } from "../../storage/sqlite/sqlite-journal.ts";
import type { StorageThread } from "../storage-thread/storage-thread.ts";
import { SystemClock } from "../system-clock.ts";
import { logTrouble, type Seat, type StorageWatch } from "./seat.ts";

interface FileSeatOptions {
  readonly dataDir: string;
  readonly socketPath: string;
  readonly durability: "power" | "process";
  /** Where the journal is written. Undefined: here, which is quicker for a run that nothing else waits for. */
  readonly thread: StorageThread | undefined;
  readonly clock: SystemClock | undefined;
  /** Of a test that tries deaths. */
  readonly between: StandIns["between"];
}

/** The journal of a data directory, whose owner's lock this process holds. Throws as `openSqliteJournal` does. */
export async function takeFileSeat(lock: AcquiredLock, options: FileSeatOptions): Promise<Seat> {
  const { dataDir, socketPath, durability, thread, between, clock = new SystemClock() } = options;
  const path = join(dataDir, "pawl.db");
  const opened = openSqliteJournal({ path, durability });
  const inner =
    between === undefined
      ? opened
      : (await import("../../storage/one-event-commits.ts")).oneEventCommits(opened, (run, seq, event) =>
          between({ run, seq, event, at: clock.now() }),
        );
  const guarded = new GuardedJournal(path, holdRuns(thread?.journal(inner) ?? inner));
  return {
    journal: guarded.journal,
    starts: undefined,
    clock,
    drives: undefined,
    storage: new FileWatch(dataDir, guarded),
    loss: await guarded.findLoss(),
    previousSeenAt: lock.previousSeenAt,
    lookEveryMs: undefined,
    inbox: undefined,
    relay: undefined,
    workers: undefined,
    whenLost: () => undefined,
    announce: (url) =>
      lock.announce({ pid: process.pid, host: hostname(), socket: socketPath, ...(url === undefined ? {} : { url }) }),
    release: async () => lock.release(),
  };
}

const LOOK_EVERY_MS = 500;
/** A write or a lock that takes longer is trouble. */
const PATIENCE_MS = 1_000;
/** What one commit needs at least. */
const SPACE = new Uint8Array(32 * 1024);

type WatchedJournal = Pick<GuardedJournal, "findTrouble" | "committedAt">;

interface WatchedLock {
  readonly name: string;
  readonly probe: LockProbe;
  /** Found locked at each look since then. */
  since?: number;
}

/** Looks all the time whether what is written could be kept, so that trouble is found before something is lost. */
export class FileWatch implements StorageWatch {
  readonly #journal: WatchedJournal;
  readonly #locks: readonly WatchedLock[];
  readonly #spaceFile: string;
  #timer: NodeJS.Timeout | undefined;
  #isFull: PawlError | undefined;
  #isTryingSpace = false;
  #trouble: PawlError | undefined;

  constructor(dataDir: string, journal: WatchedJournal) {
    this.#journal = journal;
    this.#locks = ["pawl.db", "service.db"].map((name) => ({ name, probe: new LockProbe(join(dataDir, name)) }));
    this.#spaceFile = join(dataDir, "space.probe");
  }

  get trouble(): PawlError | undefined {
    return this.#journal.findTrouble(PATIENCE_MS) ?? this.#trouble;
  }

  start(log: Log): void {
    this.#timer ??= setInterval(() => this.#look(log), LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const { probe } of this.#locks) probe.close();
  }

  #look(log: Log): void {
    void this.#trySpace();
    const before = this.#trouble?.code;
    this.#trouble = this.#journal.findTrouble(PATIENCE_MS) ?? this.#isFull ?? this.#findLock();
    logTrouble(log, this.#trouble, before);
  }

  #findLock(): PawlError | undefined {
    return this.#locks.map((lock) => this.#judge(lock)).find((failure) => failure !== undefined);
  }

  /** Other processes write too, a moment at a time. */
  #judge(lock: WatchedLock): PawlError | undefined {
    const found = lock.probe.find();
    const now = performance.now();
    // The thread of this process writes as well: while its commits are made, the journal's lock is its own.
    const isOwn = lock.name === "pawl.db" && this.#journal.committedAt > (lock.since ?? now);
    if (found === undefined) delete lock.since;
    else if (isOwn) lock.since = now;
    else lock.since ??= now;
    return now - (lock.since ?? now) >= PATIENCE_MS ? found : undefined;
  }

  /** Some file systems say only to who writes that they are full or cannot be written. */
  async #trySpace(): Promise<void> {
    if (this.#isTryingSpace) return;
    this.#isTryingSpace = true;
    try {
      await writeFile(this.#spaceFile, SPACE, { mode: 0o600 });
      this.#isFull = undefined;
    } catch (error) {
      const failure = toFileFailure(error, this.#spaceFile);
      this.#isFull = isPawlError(failure) ? failure : undefined;
    }
    await rm(this.#spaceFile, { force: true }).catch(() => undefined);
    this.#isTryingSpace = false;
  }
}
