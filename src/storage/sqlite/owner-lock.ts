import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { orElse } from "../../core/or-else.ts";
import { makeFolder } from "../make-folder.ts";
import { tryLock } from "../try-lock.ts";
import { toReadFailure } from "./storage-failure.ts";

/** How others reach the owner of a data directory. Information only: a pid proves nothing inside a container. */
export interface OwnerInfo {
  readonly pid: number;
  readonly host: string;
  readonly socket: string;
  readonly url?: string;
}

export type OwnerLock =
  | {
      readonly acquired: true;
      /** The last sign of life of the owner before. Undefined: there was none, or it is not known. */
      readonly previousSeenAt: number | undefined;
      announce(info: OwnerInfo): void;
      release(): void;
    }
  | { readonly acquired: false; readonly heldBy: OwnerInfo | undefined };

/** How exactly the time of an owner's death is known. */
const SIGN_OF_LIFE_MS = 2_000;

/**
 * The right to drive the runs of a data directory: an exclusive SQLite transaction on `owner.db`, held open. The system
 * takes it back the moment the process dies. Never waits: the caller asks again, since two that ask at once can both be
 * turned away. `heldBy` is undefined while the owner has not said yet who it is. The time of `owner.db` is the last sign of
 * life of an owner: one that holds the lock for less than two seconds gives none.
 *
 * Nobody else may open `owner.db`, not even to copy it: closing any handle of a file drops the locks that a process has
 * on it.
 */
export function acquireOwnerLock(dataDir: string, info: OwnerInfo): OwnerLock {
  const previousSeenAt = orElse(() => statSync(lockPath(dataDir)).mtimeMs, undefined);
  const database = lockFile(dataDir);
  if (database === undefined) return { acquired: false, heldBy: readOwnerInfo(dataDir) };
  const living = setInterval(() => giveSignOfLife(dataDir), SIGN_OF_LIFE_MS).unref();
  const release = () => {
    clearInterval(living);
    try {
      rmSync(infoFile(dataDir), { force: true });
    } catch {
      // It cannot be written to any more. The lock itself is what counts.
    }
    database.close();
  };
  try {
    writeOwnerInfo(dataDir, info);
  } catch (error) {
    release();
    throw toReadFailure(error, infoFile(dataDir));
  }
  return { acquired: true, previousSeenAt, announce: (newer) => writeOwnerInfo(dataDir, newer), release };
}

function lockFile(dataDir: string): DatabaseSync | undefined {
  makeDataFolder(dataDir);
  const path = lockPath(dataDir);
  try {
    return tryLock(path);
  } catch (error) {
    throw toReadFailure(error, path);
  }
}

function giveSignOfLife(dataDir: string): void {
  const now = new Date();
  try {
    utimesSync(lockPath(dataDir), now, now);
  } catch {
    // The folder is gone or cannot be written to: the time of death will be known less well.
  }
}

function makeDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PawlError("JOURNAL_IO", {
      message: `The data folder ${dataDir} cannot be made: ${why}.`,
      remedy: "Make it writable, or name another folder with `--data DIR`.",
      cause,
    });
  }
}

function writeOwnerInfo(dataDir: string, info: OwnerInfo): void {
  const unfinished = `${infoFile(dataDir)}.${info.pid}`;
  writeFileSync(unfinished, writeExact(info), { mode: 0o600 });
  renameSync(unfinished, infoFile(dataDir));
}

function readOwnerInfo(dataDir: string): OwnerInfo | undefined {
  // Missing or unreadable: then it informs about nothing.
  return orElse(() => toOwnerInfo(parseExact(readFileSync(infoFile(dataDir), "utf8"))), undefined);
}

function toOwnerInfo(info: Json): OwnerInfo | undefined {
  if (!isJsonObject(info)) return undefined;
  const { pid, host, socket, url } = info;
  if (typeof pid !== "number" || typeof host !== "string" || typeof socket !== "string") return undefined;
  return { pid, host, socket, ...(typeof url === "string" ? { url } : {}) };
}

function lockPath(dataDir: string): string {
  return join(dataDir, "owner.db");
}

function infoFile(dataDir: string): string {
  return join(dataDir, "lock.json");
}

/** The right to drive the runs of a data directory, held until it is released. */
export type AcquiredLock = OwnerLock & { readonly acquired: true };
