import { hostname } from "node:os";
import { join } from "node:path";
import { holdRuns } from "../../storage/held-runs.ts";
import { GuardedJournal } from "../../storage/sqlite/guarded-journal.ts";
import type { AcquiredLock } from "../../storage/sqlite/owner-lock.ts";
import { openSqliteJournal } from "../../storage/sqlite/sqlite-journal.ts";
import { FileWatch } from "../owner/file-watch.ts";
import type { StorageThread } from "../storage-thread/storage-thread.ts";
import { SystemClock } from "../system-clock.ts";
import type { Seat } from "./seat.ts";

interface FileSeatOptions {
  readonly dataDir: string;
  readonly socketPath: string;
  readonly durability: "power" | "process";
  /** Where the journal is written. Undefined: here, which is quicker for a run that nothing else waits for. */
  readonly thread: StorageThread | undefined;
}

/** The journal of a data directory, whose owner's lock this process holds. Throws as `openSqliteJournal` does. */
export async function takeFileSeat(lock: AcquiredLock, options: FileSeatOptions): Promise<Seat> {
  const { dataDir, socketPath, durability, thread } = options;
  const path = join(dataDir, "pawl.db");
  const inner = openSqliteJournal({ path, durability });
  const guarded = new GuardedJournal(path, holdRuns(thread?.journal(inner) ?? inner));
  return {
    journal: guarded.journal,
    starts: undefined,
    clock: new SystemClock(),
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
