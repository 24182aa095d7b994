import { PawlError } from "../core/errors/pawl-error.ts";
import type { DataFolder } from "../operations/application/ports.ts";
import type { Journal } from "../ports/journal.ts";
import { hasEnded } from "../storage/append-rule.ts";
import { backUp, restore } from "../storage/backup.ts";
import { collectBlobs, type DropNamed, namedInFolder } from "../storage/collect-blobs.ts";
import { collectWork } from "../storage/collect-work.ts";
import type { Stores } from "./open-stores.ts";

interface FolderParts extends Pick<Stores, "blobs" | "bucket"> {
  readonly dataDir: string;
  /** Undefined: runs and records are in the folder. */
  readonly database: { readonly dropNamed: DropNamed } | undefined;
  journal(): Promise<Journal>;
}

export function createDataFolder({ dataDir, blobs, bucket, database, journal }: FolderParts): DataFolder {
  const elsewhere = bucket === undefined ? {} : { elsewhere: bucket.place };
  const dropNamed: DropNamed = database === undefined ? namedInFolder(dataDir) : (hashes) => database.dropNamed(hashes);
  const isOver = async (runId: string) => {
    const run = await (await journal()).findRun(runId);
    return run === undefined || (run !== "ambiguous" && run.id === runId && hasEnded(run.status));
  };
  return {
    async backUp(to) {
      if (database !== undefined) throw inDatabase();
      return { ...(await backUp(dataDir, to)), ...elsewhere };
    },
    async restore(from, replace) {
      if (database !== undefined) throw inDatabase();
      return { ...(await restore(from, dataDir, replace)), ...elsewhere };
    },
    async collect(onlyLooks) {
      await bucket?.refuseOthers();
      const collected = await collectBlobs(blobs, dropNamed, onlyLooks);
      const left = bucket === undefined ? 0 : await collectWork(dataDir, isOver, onlyLooks);
      return { ...collected, bytes: collected.bytes + left };
    },
  };
}

function inDatabase(): PawlError {
  return new PawlError("RUNS_IN_DATABASE", {
    message: "`database.url` (DATABASE_URL) says that runs are kept elsewhere.",
  });
}
