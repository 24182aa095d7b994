import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Config } from "../../config/load-config.ts";
import { LocalHost } from "../../hosts/local/local-host.ts";
import type { LocalHostOptions } from "../../hosts/local/local-host-options.ts";
import type { Journal } from "../../ports/journal.ts";
import { holdRuns } from "../../storage/held-runs.ts";
import { GuardedJournal } from "../../storage/sqlite/guarded-journal.ts";
import type { AcquiredLock } from "../../storage/sqlite/owner-lock.ts";
import { openSqliteJournal } from "../../storage/sqlite/sqlite-journal.ts";
import { Regexes } from "../regexes.ts";
import type { StorageThread } from "../storage-thread/storage-thread.ts";
import { SystemClock } from "../system-clock.ts";
import { OwnerServer, type OwnerServerOptions } from "./owner-server.ts";
import { StorageWatch } from "./storage-watch.ts";

export interface OwnershipParts {
  readonly dataDir: string;
  readonly config: Config;
  /** What the host is given beside what is opened here, and what the configuration says. */
  readonly host: Omit<
    LocalHostOptions,
    "journal" | "clock" | "previousSeenAt" | "env" | "matches" | "findAll" | "maxOutputBytes" | "maxRowsPerCommit"
  >;
  /** Opens the server that other processes reach. */
  readonly openService: OwnerServerOptions["open"];
  /** A line for a person. */
  tell(line: string): void;
  /** Where the journal is written. Undefined: here, which is quicker for a run that nothing else waits for. */
  readonly thread: StorageThread | undefined;
  /** Terminal sessions of this process whose program runs. */
  openTerminals(): number;
}

/** Opens the journal for writing, takes up what an earlier owner left, and lets other processes in. */
export async function openOwnership(
  lock: AcquiredLock,
  socketPath: string,
  parts: OwnershipParts,
): Promise<{ readonly ownership: Ownership; readonly resumed: number }> {
  const { dataDir, config } = parts;
  const { data, limits } = config.settings;
  const clock = new SystemClock();
  const path = join(dataDir, "pawl.db");
  const inner = openSqliteJournal({ path, durability: data.durability });
  const guarded = new GuardedJournal(path, holdRuns(parts.thread?.journal(inner) ?? inner));
  const { journal } = guarded;
  const loss = await guarded.findLoss();
  if (loss !== undefined) parts.tell(loss);
  const regexes = new Regexes();
  const host = new LocalHost({
    ...parts.host,
    journal,
    clock,
    previousSeenAt: lock.previousSeenAt,
    env: config.env,
    matches: (text, pattern) => regexes.matches(text, pattern),
    findAll: (text, pattern) => regexes.findAll(text, pattern),
    maxOutputBytes: limits.max_output_bytes,
    maxRowsPerCommit: limits.max_rows_per_commit,
  });
  const { resumed } = await host.recover();
  const { onDefect } = parts.host;
  const server = await OwnerServer.listen({ path: socketPath, open: () => parts.openService(), onDefect });
  const openTerminals = () => parts.openTerminals();
  const storage = new StorageWatch(dataDir, guarded);
  const owned = { lock, socketPath, clock, journal, host, server, storage, loss, openTerminals };
  return { ownership: new Ownership(owned), resumed };
}

interface Owned {
  readonly lock: AcquiredLock;
  readonly socketPath: string;
  readonly clock: SystemClock;
  readonly journal: Journal;
  readonly host: LocalHost;
  readonly server: OwnerServer;
  readonly storage: StorageWatch;
  /** What an earlier process had acknowledged and is gone. */
  readonly loss: string | undefined;
  openTerminals(): number;
}

const LOOK_AGAIN_MS = 50;
const IDLE_GRACE_MS = 5_000;

/** The data directory as long as this process drives its runs. */
export class Ownership {
  readonly #owned: Owned;
  #url: string | undefined;
  #isParked = false;
  #isClosed = false;

  constructor(owned: Owned) {
    this.#owned = owned;
  }

  get host(): LocalHost {
    return this.#owned.host;
  }

  get journal(): Journal {
    return this.#owned.journal;
  }

  get storage(): StorageWatch {
    return this.#owned.storage;
  }

  get loss(): string | undefined {
    return this.#owned.loss;
  }

  /** The address at which this process takes requests. Undefined: it takes none. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Tells other processes where this one takes requests. */
  announce(url: string): void {
    const { lock, socketPath } = this.#owned;
    this.#url = url;
    lock.announce({ pid: process.pid, host: hostname(), socket: socketPath, url });
  }

  /** Whether other processes may be using the terminals of this one. */
  get hasGuestsOfTerminals(): boolean {
    return this.#owned.server.callers > 0 && this.#owned.openTerminals() > 0;
  }

  /** Resolves when no run is under way here and nobody uses terminals of this process, or when the signal aborts. */
  async finished(stop: AbortSignal): Promise<void> {
    const isNeeded = () => this.#owned.host.driving > 0 || this.hasGuestsOfTerminals;
    while (isNeeded() && !stop.aborted) await setTimeout(LOOK_AGAIN_MS);
  }

  /** Resolves when for some seconds nobody has needed this process: no run under way, no caller, no timer to come. */
  async idle(stop: AbortSignal): Promise<void> {
    const { host, server, journal } = this.#owned;
    let idleSince = Date.now();
    while (!stop.aborted && Date.now() - idleSince < IDLE_GRACE_MS) {
      const isNeeded = host.driving > 0 || server.callers > 0 || (await journal.nextWakeAt()) !== undefined;
      if (isNeeded) idleSince = Date.now();
      await setTimeout(LOOK_AGAIN_MS);
    }
  }

  /** Lays every run down, durably. */
  async park(force: AbortSignal, hold?: string): Promise<void> {
    if (this.#isParked) return;
    this.#isParked = true;
    await this.#owned.host.park(force, hold);
  }

  /** Gives the data directory back. Callers go on with the next owner. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isParked = true;
    const { lock, clock, journal, server, storage } = this.#owned;
    clock.stop();
    storage.stop();
    await server.close();
    await journal.close();
    lock.release();
  }
}
