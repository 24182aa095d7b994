import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { makeFile, makeFolder } from "../make-folder.ts";
import { isMigrated, migrate } from "./migrations.ts";
import { toReadFailure } from "./storage-failure.ts";
import { BUSY_TIMEOUT_MS } from "./wait-out-locks.ts";

export interface SqliteOptions {
  readonly path: string;
  /** `power`: a commit survives a power cut. `process`: it survives a crash of the process, and is several times faster. */
  readonly durability: "power" | "process";
  /** Beside an owner: reads what it has committed, changes nothing. */
  readonly readOnly?: boolean;
  /** Pages of 4 KiB that the file may have: a disk that fills up, for tests. */
  readonly maxPages?: number;
}

/** Tells our files from other programs' SQLite files: `Pawl` in ASCII. */
const APPLICATION_ID = 0x5061776c;

/** How long opening waits for another process that holds a lock of the file. */
const OPENING_TIMEOUT_MS = 5_000;

/** Opens a journal file, first creating it where it is missing. Throws only `PawlError`s with the path in the message. */
export function openDatabase(options: SqliteOptions): DatabaseSync {
  const { path } = options;
  try {
    if (options.readOnly !== true && !existsSync(path)) createDatabase(path);
    refuseEmptyFile(path);
    return openExisting(options);
  } catch (error) {
    throw toReadFailure(error, path);
  }
}

/**
 * The file gets its name only when its tables are complete. So a file without tables is never one of ours, and an
 * emptied one is not taken for a new one.
 */
function createDatabase(path: string): void {
  refuseOrphanedLog(path);
  makeFolder(dirname(path));
  const unfinished = `${path}.new`;
  for (const leftover of [unfinished, `${unfinished}-journal`]) rmSync(leftover, { force: true });
  makeFile(unfinished);
  const database = new DatabaseSync(unfinished);
  try {
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    migrate(database);
  } finally {
    database.close();
  }
  renameSync(unfinished, path);
  syncFolder(dirname(path));
}

/** SQLite would play a log that belongs to a lost file into the new one. */
function refuseOrphanedLog(path: string): void {
  if (sizeOf(`${path}-wal`) === 0) return;
  throw new PawlError("JOURNAL_DAMAGED", {
    message: `${path} is missing, but its log ${path}-wal is there.`,
    remedy: `Put ${path} back, or move the log away to begin anew.`,
  });
}

/** SQLite takes a file of zero bytes for a new database, and throws away its log. */
function refuseEmptyFile(path: string): void {
  if (!existsSync(path) || sizeOf(path) > 0) return;
  throw new PawlError("JOURNAL_DAMAGED", { message: `${path} is empty.` });
}

function openExisting(options: SqliteOptions): DatabaseSync {
  const { path, readOnly = false } = options;
  const database = new DatabaseSync(path, { readOnly });
  try {
    database.exec(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
    refuseForeignFile(database, path);
    refusePartialPage(database, path);
    if (!isMigrated(database, path)) upgrade(database, options);
    if (!readOnly) configureWriter(database, options);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function refuseForeignFile(database: DatabaseSync, path: string): void {
  const id = database.prepare("PRAGMA application_id").get()?.["application_id"];
  if (id === APPLICATION_ID) return;
  throw new PawlError("JOURNAL_DAMAGED", { message: `${path} is not a journal of Pawl.` });
}

/** SQLite fills up the last page with zeros. Only while there is a log may it be unfinished: the log has it again. */
function refusePartialPage(database: DatabaseSync, path: string): void {
  if (sizeOf(`${path}-wal`) > 0) return;
  const pageSize = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]);
  if (sizeOf(path) % pageSize === 0) return;
  throw new PawlError("JOURNAL_DAMAGED", { message: `${path} ends in the middle of a page.` });
}

function upgrade(database: DatabaseSync, { path, readOnly }: SqliteOptions): void {
  if (readOnly === true)
    throw new PawlError("JOURNAL_IO", {
      message: `${path} was written by an older Pawl and is open for reading only.`,
      remedy: "Run `pawl db migrate`.",
    });
  migrate(database);
}

function configureWriter(database: DatabaseSync, { durability, maxPages }: SqliteOptions): void {
  database.exec("PRAGMA journal_mode = WAL");
  database.exec(`PRAGMA synchronous = ${durability === "power" ? "FULL" : "NORMAL"}`);
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${maxPages}`);
}

/** 0 where there is no such file. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
