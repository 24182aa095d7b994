import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { Settings } from "../config/settings.ts";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { CopyReport } from "../operations/application/ports.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import { type CopiedData, copyRows } from "../storage/copy-rows.ts";
import { copyIfThere, holdFolder, listFiles, putInPlace } from "../storage/data-folder.ts";
import { toFileFailure } from "../storage/files/durable-write.ts";
import { FileSealer } from "../storage/files/file-sealer.ts";
import { makeFolder } from "../storage/make-folder.ts";
import { withSqliteData } from "../storage/sqlite/copied-data.ts";
import { openStores, type Stores } from "./open-stores.ts";

interface CopyParts {
  readonly dataDir: string;
  readonly settings: Settings;
  stores(): Promise<Stores>;
  /** Throws `SECRET_UNREADABLE`. */
  unseal(sealed: string): Promise<unknown>;
}

/** Calls back with the source as it is at one moment, while no process drives its runs. */
type Read = <T>(work: (source: CopiedData) => Promise<T>) => Promise<T>;

interface Source {
  readonly read: Read;
  /** The folder of large values and files. Undefined: they are where those of the target are. */
  readonly folder: string | undefined;
}

/** What a folder may hold that no data is in. */
const NO_DATA = /^(owner\.\w+|lock\.json|secrets\.key|storage-id)/;

/** Copies everything from a data folder, or from the database of an address, into the empty place that the settings name. */
export async function copyData(parts: CopyParts, from: string, files: string | undefined): Promise<CopyReport> {
  const isAddress = /^postgres(ql)?(\+\w+)?:/i.test(from);
  const folder = isAddress ? files : (files ?? from);
  const read: Read = isAddress ? (work) => withDatabase(from, false, work) : readFolder(resolve(from));
  const { url } = parts.settings.database;
  return url === undefined ? intoFolder(parts, { read, folder }) : intoDatabase(parts, { read, folder }, url);
}

function readFolder(folder: string): Read {
  return async (work) => {
    if (!existsSync(join(folder, "pawl.db")))
      throw new PawlError("BACKUP_INVALID", {
        message: `${folder} has no journal: nothing was recorded there.`,
        remedy: "Name a data folder, or the address of a PostgreSQL database.",
      });
    const lock = holdFolder(folder, "End it first: what it drives would go on in both places.");
    try {
      return await withSqliteData(folder, work);
    } finally {
      lock.close();
    }
  };
}

async function intoFolder({ dataDir, settings }: CopyParts, source: Source): Promise<CopyReport> {
  const unfinished = `${dataDir}.copying`;
  await refuseData(dataDir);
  try {
    await rm(unfinished, { recursive: true, force: true });
    makeFolder(unfinished);
    if (source.folder !== undefined)
      await copyIfThere(join(source.folder, "secrets.key"), join(unfinished, "secrets.key"));
    for (const name of ["secrets.key", "storage-id"]) await copyIfThere(join(dataDir, name), join(unfinished, name));
    const sealer = new FileSealer({ path: join(unfinished, "secrets.key"), key: settings.secrets.key });
    const stores = await openStores(unfinished, settings.storage);
    const counts = await withSqliteData(unfinished, (target) =>
      copyAll(source, { ...target, ...stores, place: dataDir, unseal: async (sealed) => sealer.open(sealed) }),
    );
    // It may have been begun meanwhile.
    await refuseData(dataDir);
    await putInPlace(unfinished, dataDir);
    return counts;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw toFileFailure(error, unfinished);
  }
}

async function intoDatabase({ stores, unseal }: CopyParts, source: Source, url: string): Promise<CopyReport> {
  const { blobs, files } = await stores();
  return withDatabase(url, true, (target, place) => copyAll(source, { ...target, blobs, files, place, unseal }));
}

interface Target extends CopiedData, Pick<Stores, "blobs" | "files">, Pick<CopyParts, "unseal"> {
  readonly place: string;
}

/** The rows are committed when the values and files are there that they refer to. */
async function copyAll({ read, folder }: Source, target: Target): Promise<CopyReport> {
  const values = new Set<string>();
  let sealed: string | undefined;
  const counts = await read((source) =>
    copyRows(source, target, (text) => {
      if (/^~[0-9a-f]{64}$/.test(text)) values.add(text.slice(1));
      sealed ??= /pawl:sealed:1:[\w-]+/.exec(text)?.[0];
    }),
  );
  if (sealed !== undefined) await target.unseal(sealed);
  const { FileBlobs } = await import("../storage/files/file-blobs.ts");
  const { LocalFileStorage } = await import("../storage/files/local-file-storage.ts");
  const older = folder === undefined ? undefined : new FileBlobs(join(folder, "blobs"));
  await copyValues(values, older, target.blobs);
  const files = folder === undefined ? undefined : new LocalFileStorage(join(folder, "storage"));
  const copied = files === undefined ? 0 : await copyFiles(files, target.files);
  return { place: target.place, ...counts, values: values.size, files: copied };
}

/** Each value is read and compared with its hash, also one that is in the target already. */
async function copyValues(values: ReadonlySet<string>, older: Blobs | undefined, blobs: Blobs): Promise<void> {
  const inFolder = new Set<string>();
  for await (const { sha256 } of older?.list() ?? []) inFolder.add(sha256);
  for (const sha256 of values)
    if (older !== undefined && inFolder.has(sha256)) await blobs.put(await older.get(sha256));
    else await blobs.get(sha256);
}

/** A file may be larger than the memory. */
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** One with the same content stays. Another one is refused before anything is written. */
async function copyFiles(from: FileStorage, to: FileStorage): Promise<number> {
  const files = await from.list("");
  const missing: (typeof files)[number][] = [];
  for (const file of files)
    if ((await to.sizeOf(file.path)) === undefined) missing.push(file);
    else if (!(await areSame(file, from, to)))
      throw new PawlError("DATA_EXISTS", {
        message: `The storage has another file "${file.path}" than the one to copy. Nothing was copied.`,
        remedy: "Move it away first, for example with `pawl storage get` and `pawl storage rm`.",
      });
  for (const { path, bytes } of missing)
    for (let at = 0; at === 0 || at < bytes; at += BYTES_AT_ONCE) {
      const content = await from.readRange(path, { from: at, to: at + BYTES_AT_ONCE });
      if (at === 0) await to.write(path, content);
      else await to.extend(path, { from: at, content });
    }
  return files.length;
}

async function areSame(
  { path, bytes }: { readonly path: string; readonly bytes: number },
  from: FileStorage,
  to: FileStorage,
): Promise<boolean> {
  if ((await to.sizeOf(path)) !== bytes) return false;
  for (let at = 0; at < bytes; at += BYTES_AT_ONCE) {
    const range = { from: at, to: at + BYTES_AT_ONCE };
    const [one, other] = [await from.readRange(path, range), await to.readRange(path, range)];
    if (Buffer.compare(one, other) !== 0) return false;
  }
  return true;
}

async function withDatabase<T>(
  url: string,
  isTarget: boolean,
  work: (data: CopiedData, place: string) => Promise<T>,
): Promise<T> {
  const [{ withOneConnection }, { withPostgresData }] = await Promise.all([
    import("../storage/postgres/postgres-database.ts"),
    import("../storage/postgres/copied-data.ts"),
  ]);
  return withOneConnection(url, (database, { shown }) =>
    withPostgresData(database, { isTarget }, (data) => work(data, shown)),
  );
}

/** A folder is a target while no process works on it and nothing is in it. */
async function refuseData(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return;
  holdFolder(dataDir, "End it first, or copy into another folder with `--data DIR`.").close();
  if ((await listFiles(dataDir)).every((name) => NO_DATA.test(basename(name)))) return;
  throw new PawlError("DATA_EXISTS", {
    message: `${dataDir} is not empty. Nothing was copied.`,
    remedy: "Copy into an empty folder that `--data DIR` names, or move this one away.",
  });
}
