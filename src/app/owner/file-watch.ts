import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import type { Log } from "../../ports/log.ts";
import { toFileFailure } from "../../storage/files/durable-write.ts";
import type { GuardedJournal } from "../../storage/sqlite/guarded-journal.ts";
import { LockProbe } from "../../storage/sqlite/lock-probe.ts";
import type { StorageWatch } from "../seat/seat.ts";

const LOOK_EVERY_MS = 500;
/** A write or a lock that takes longer is trouble. */
const PATIENCE_MS = 1_000;
/** What one commit needs at least. */
const SPACE = new Uint8Array(32 * 1024);

type WatchedJournal = Pick<GuardedJournal, "findTrouble" | "committedAt">;

/** Looks all the time whether what is written could be kept, so that nobody has to lose something to find out. */
export class FileWatch implements StorageWatch {
  readonly #journal: WatchedJournal;
  readonly #probes: readonly LockProbe[];
  readonly #spaceFile: string;
  #timer: NodeJS.Timeout | undefined;
  #lockedSince: number | undefined;
  #isFull: PawlError | undefined;
  #isTryingSpace = false;
  #trouble: PawlError | undefined;

  constructor(dataDir: string, journal: WatchedJournal) {
    this.#journal = journal;
    this.#probes = ["pawl.db", "service.db"].map((name) => new LockProbe(join(dataDir, name)));
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
    for (const probe of this.#probes) probe.close();
  }

  #look(log: Log): void {
    void this.#trySpace();
    const before = this.#trouble?.code;
    this.#trouble = this.#journal.findTrouble(PATIENCE_MS) ?? this.#isFull ?? this.#findLock();
    if (this.#trouble?.code === before) return;
    if (this.#trouble === undefined) log.write("info", "storage: what is written is kept again");
    else log.write("error", `storage: ${this.#trouble.code} ${this.#trouble.message}`, { code: this.#trouble.code });
  }

  #findLock(): PawlError | undefined {
    const found = this.#probes.map((probe) => probe.find()).find((failure) => failure !== undefined);
    if (found === undefined) this.#lockedSince = undefined;
    // Other processes write too, a moment at a time, and so does the thread of this one: while its commits are made, the lock is its own.
    else if (this.#journal.committedAt > (this.#lockedSince ?? 0)) this.#lockedSince = performance.now();
    else this.#lockedSince ??= performance.now();
    return performance.now() - (this.#lockedSince ?? Number.POSITIVE_INFINITY) >= PATIENCE_MS ? found : undefined;
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
