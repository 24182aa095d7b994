import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";
import { isPawlError, PawlError } from "../core/errors/pawl-error.ts";
import type { DataMover } from "../operations/application/application.ts";
import type { RunSecrets } from "../ports/run-secrets.ts";
import { copyIfThere, holdFolder, putInPlace } from "../storage/data-folder.ts";
import { exportData } from "../storage/export-data.ts";
import { toFileFailure } from "../storage/files/durable-write.ts";
import { importData } from "../storage/import-data.ts";
import { makeFolder } from "../storage/make-folder.ts";
import { withSqliteData } from "../storage/sqlite/moved-data.ts";
import { openStores, type Stores } from "./open-stores.ts";

interface MoverParts {
  readonly dataDir: string;
  readonly settings: Settings;
  stores(): Promise<Stores>;
  secrets(): Promise<RunSecrets>;
}

/** Moves all data out of the place that the settings name, or into it. */
export function createDataMover(parts: MoverParts): DataMover {
  const { url } = parts.settings.database;
  return url === undefined ? moverOfFolder(parts) : moverOfDatabase(parts, url);
}

function moverOfFolder({ dataDir, settings, stores, secrets }: MoverParts): DataMover {
  return {
    async exportTo(path) {
      if (!existsSync(join(dataDir, "pawl.db"))) throw nothingIn(dataDir);
      const lock = holdFolder(dataDir, "End it first: what it drives would go on in both places.");
      try {
        const { blobs, files } = await stores();
        const read: Parameters<typeof exportData>[1]["read"] = (work) => withSqliteData(dataDir, work);
        const counts = await exportData(path, { kind: "sqlite", read, blobs, files, opens: opener(await secrets()) });
        return { ...counts, place: dataDir, told: [] };
      } finally {
        lock.close();
      }
    },

    async importFrom(path) {
      const unfinished = `${dataDir}.importing`;
      await refuseData(dataDir);
      try {
        await rm(unfinished, { recursive: true, force: true });
        makeFolder(unfinished);
        // The same data for whoever else has something in its bucket.
        for (const name of ["secrets.key", "storage-id"])
          await copyIfThere(join(dataDir, name), join(unfinished, name));
        const { blobs, files } = await openStores(unfinished, settings.storage);
        const write: Parameters<typeof importData>[1]["write"] = (work) => withSqliteData(unfinished, work);
        const opens = opener(await secrets());
        const counts = await importData(path, { place: dataDir, write, blobs, files, opens });
        // It may have been begun meanwhile.
        await refuseData(dataDir);
        await putInPlace(unfinished, dataDir);
        return { ...counts, place: dataDir, told: [] };
      } catch (error) {
        await rm(unfinished, { recursive: true, force: true });
        throw toFileFailure(error, unfinished);
      }
    },
  };
}

function moverOfDatabase({ stores, secrets }: MoverParts, url: string): DataMover {
  return {
    exportTo: (path) =>
      withDatabase(url, async ({ place, withData }) => {
        const { blobs, files } = await stores();
        const told: string[] = [];
        const counts = await exportData(path, {
          kind: "postgresql",
          read: (work) =>
            withData({ isTarget: false }, async (data) => {
              told.splice(0, told.length, ...tellOthers(data));
              return work(data);
            }),
          blobs,
          files,
          opens: opener(await secrets()),
        });
        return { ...counts, place, told };
      }),

    importFrom: (path) =>
      withDatabase(url, async ({ place, withData }) => {
        const { blobs, files } = await stores();
        const write: Parameters<typeof importData>[1]["write"] = (work) => withData({ isTarget: true }, work);
        const counts = await importData(path, { place, write, blobs, files, opens: opener(await secrets()) });
        return { ...counts, place, told: [] };
      }),
  };
}

async function withDatabase<T>(url: string, work: (database: OpenedDatabase) => Promise<T>): Promise<T> {
  const [{ readDatabaseUrl }, { PostgresDatabase }, { withPostgresData }] = await Promise.all([
    import("../storage/postgres/database-address.ts"),
    import("../storage/postgres/postgres-database.ts"),
    import("../storage/postgres/moved-data.ts"),
  ]);
  const address = readDatabaseUrl(url);
  const database = new PostgresDatabase({ address, connections: 1 });
  try {
    return await work({ place: address.shown, withData: (...given) => withPostgresData(database, ...given) });
  } finally {
    await database.close();
  }
}

type SharedData = import("../storage/postgres/moved-data.ts").SharedData;

interface OpenedDatabase {
  readonly place: string;
  withData<T>(options: { readonly isTarget: boolean }, work: (data: SharedData) => Promise<T>): Promise<T>;
}

function tellOthers({ otherSessions, openRequests }: SharedData): readonly string[] {
  const sessions = `Other sessions of Pawl are open in the database (${otherSessions}): what they write from now on is not in the export. End those processes.`;
  const requests = `Requests to runs that no process has answered are left out (${openRequests}). Who sent them was not told that they were done.`;
  return [...(otherSessions > 0 ? [sessions] : []), ...(openRequests > 0 ? [requests] : [])];
}

/** A folder is a target while nobody works on it and nothing was recorded or stored in it. */
async function refuseData(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return;
  holdFolder(dataDir, "End it first, or import into another folder with `--data DIR`.").close();
  const { hasRecords } = await import("../storage/sqlite/moved-data.ts");
  const files = existsSync(join(dataDir, "storage")) ? await (await openFolderFiles(dataDir)).list("") : [];
  if (files.length === 0 && !hasRecords(dataDir)) return;
  throw new PawlError("DATA_EXISTS", {
    message: `${dataDir} is not empty. Nothing was written.`,
    remedy: "Import into an empty folder that `--data DIR` names, or move this one away.",
  });
}

async function openFolderFiles(dataDir: string) {
  const { openFolder } = await import("./open-stores.ts");
  return openFolder(join(dataDir, "storage"));
}

function opener(secrets: RunSecrets): (sealed: string) => boolean {
  return (sealed) => {
    try {
      secrets.open(sealed);
      return true;
    } catch (error) {
      if (isPawlError(error) && error.code === "SECRET_UNREADABLE") return false;
      throw error;
    }
  };
}

function nothingIn(dataDir: string): PawlError {
  return new PawlError("BACKUP_INVALID", {
    message: `${dataDir} has no journal: nothing was recorded there.`,
    remedy: "Name the data folder with `--data DIR`, or set DATABASE_URL.",
  });
}
