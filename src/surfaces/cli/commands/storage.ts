import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Application, OpenApplication } from "../../../operations/application/application.ts";
import { forTenant } from "../../../operations/application/tenant-application.ts";
import {
  listStoredFiles,
  readStoredFile,
  removeStoredFile,
  type StoredFile,
  writeStoredFile,
} from "../../../operations/storage/stored-files.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { io } from "../process-io.ts";

export interface StorageOptions extends CommonOptions {
  readonly tenant?: string;
}

/** `pawl storage ls`. */
export async function listStorage(app: OpenApplication, prefix: string, options: StorageOptions): Promise<number> {
  return showStoredFiles(await listStoredFiles(seenBy(app, options), prefix), options);
}

export function showStoredFiles(files: readonly StoredFile[], options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope({ items: files, next_cursor: null });
  else if (files.length === 0) tell("No stored files. Store one: pawl storage put PATH FILE");
  else
    for (const { path, bytes, modified_at: modifiedAt } of files)
      print(`${modifiedAt}  ${String(bytes).padStart(10)}  ${path}`);
  return 0;
}

/** `pawl storage get`: the file as it is, on stdout. */
export async function getStorage(app: OpenApplication, path: string, options: StorageOptions): Promise<number> {
  io().stdout.write(await readStoredFile(seenBy(app, options), path));
  return 0;
}

interface Put {
  readonly path: string;
  readonly source: string;
}

/** `pawl storage put`: from a file, or from stdin where it is `-`. */
export async function putStorage(
  app: OpenApplication,
  { path, source }: Put,
  options: StorageOptions,
): Promise<number> {
  const content = await readContent(source);
  await writeStoredFile(seenBy(app, options), path, content);
  tell(`Stored ${path}.`);
  return 0;
}

/** `pawl storage rm`. */
export async function removeStorage(app: OpenApplication, path: string, options: StorageOptions): Promise<number> {
  await removeStoredFile(seenBy(app, options), path);
  tell(`Removed ${path}.`);
  return 0;
}

function seenBy(app: OpenApplication, { tenant }: StorageOptions): Application {
  return tenant === undefined ? app : forTenant(app, tenant);
}

/** Of a file, or of stdin where it is `-`. */
export async function readContent(source: string): Promise<Uint8Array> {
  return source === "-" ? buffer(io().stdin) : readSource(source);
}

async function readSource(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new PawlError("FILE_NOT_FOUND", { message: `File not found: ${file}`, cause });
  }
}
