import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";

/**
 * Writes a file so that readers see the old content or the new one, and that it is on the disk when this resolves:
 * a synced file beside, renamed, and the folder synced. `incoming` is a folder of the same file system. Both paths
 * are absolute. New files and folders are for nobody but us.
 */
export async function writeDurably(path: string, content: string | Uint8Array, incoming: string): Promise<void> {
  await createFolder(dirname(path));
  await createFolder(incoming);
  const unfinished = join(incoming, randomUUID());
  try {
    await writeSynced(unfinished, content);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Continues an existing file with `content` at byte `from`, durably when this resolves. A crash may leave a part. */
export async function extendDurably(
  path: string,
  { from, content }: { readonly from: number; readonly content: Uint8Array },
): Promise<void> {
  const file = await open(path, "r+");
  try {
    if ((await file.stat()).size < from) throw new Error(`${path} is shorter than ${from} bytes.`);
    await file.truncate(from);
    for (let at = 0; at < content.byteLength; ) {
      at += (await file.write(content, at, content.byteLength - at, from + at)).bytesWritten;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Translates a failed read or write into an error that a user can act on. */
export function toFileFailure(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  const isFull = error.code === "ENOSPC" || error.code === "EDQUOT";
  return new PawlError(isFull ? "JOURNAL_FULL" : "JOURNAL_IO", { message: `${path}: ${error.message}.`, cause: error });
}

const MISSING: readonly string[] = ["ENOENT", "ENOTDIR", "EISDIR", "ERR_FS_EISDIR", "ENXIO"];

/** Does something with a file or a folder, or gives `otherwise` where the system says by one of the codes that there is none. */
export async function ifThere<T, U>(
  path: string,
  work: () => Promise<T>,
  otherwise: U,
  codes: readonly string[] = MISSING,
): Promise<T | U> {
  try {
    return await work();
  } catch (error) {
    if (isSystemError(error) && codes.includes(error.code)) return otherwise;
    throw toFileFailure(error, path);
  }
}

export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string";
}

async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new folder is durable only when its parent is synced. */
async function createFolder(path: string): Promise<void> {
  const firstCreated = await mkdir(path, { recursive: true, mode: 0o700 });
  if (firstCreated === undefined) return;
  for (let folder = path; folder.length >= firstCreated.length; folder = dirname(folder)) {
    await syncFolder(dirname(folder));
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
