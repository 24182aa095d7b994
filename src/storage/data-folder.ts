import { existsSync } from "node:fs";
import { copyFile, mkdir, open, readdir, rename } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { PawlError } from "../core/errors/pawl-error.ts";
import { tryLock } from "./try-lock.ts";

const LEFT_OUT_FOLDERS = new Set(["incoming"]);

/** Keeps others from owning a data folder until the answer is closed. Throws `DATA_LOCKED`. */
export function holdFolder(dataDir: string, remedy: string): DatabaseSync {
  const lock = tryLock(join(dataDir, "owner.db"));
  if (lock !== undefined) return lock;
  throw new PawlError("DATA_LOCKED", { message: `A process works on ${dataDir}.`, remedy });
}

/** Gives a folder that is complete its name. What has that name is moved beside it. */
export async function putInPlace(complete: string, dataDir: string): Promise<void> {
  await syncAll(complete);
  if (existsSync(dataDir)) await rename(dataDir, `${dataDir}.before-${new Date().toISOString().replaceAll(":", "")}`);
  await rename(complete, dataDir);
  await sync(dirname(dataDir));
}

/** Relative paths of all regular files. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !LEFT_OUT_FOLDERS.has(basename(entry.parentPath)))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** A file may be removed while its folder is copied. */
export async function copyIfThere(from: string, to: string): Promise<void> {
  if (existsSync(from)) await copyTo(from, to).catch((error: unknown) => ignoreMissing(error, from));
}

function ignoreMissing(error: unknown, path: string): void {
  if (existsSync(path)) throw error;
}

export async function copyTo(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to);
}

export async function syncAll(folder: string): Promise<void> {
  for (const name of await listFiles(folder)) await sync(join(folder, name));
  await sync(folder);
}

export async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
