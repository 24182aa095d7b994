import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { OpenApplication } from "../../../operations/application.ts";
import {
  listStoredFiles,
  readStoredFile,
  removeStoredFile,
  writeStoredFile,
} from "../../../operations/stored-files.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl storage ls`. */
export async function listStorage(app: OpenApplication, prefix: string, options: CommonOptions): Promise<number> {
  const files = await listStoredFiles(app, prefix);
  if (formatOf(options) !== "text") printEnvelope({ items: files, next_cursor: null });
  else
    for (const { path, bytes, modified_at: modifiedAt } of files)
      print(`${modifiedAt}  ${String(bytes).padStart(10)}  ${path}`);
  return 0;
}

/** `pawl storage get`: the file as it is, on stdout. */
export async function getStorage(app: OpenApplication, path: string): Promise<number> {
  process.stdout.write(await readStoredFile(app, path));
  return 0;
}

/** `pawl storage put`: from a file, or from stdin where it is `-`. */
export async function putStorage(app: OpenApplication, path: string, source: string): Promise<number> {
  await writeStoredFile(app, path, source === "-" ? await buffer(process.stdin) : await readSource(source));
  tell(`Stored ${path}.`);
  return 0;
}

/** `pawl storage rm`. */
export async function removeStorage(app: OpenApplication, path: string): Promise<number> {
  await removeStoredFile(app, path);
  tell(`Removed ${path}.`);
  return 0;
}

async function readSource(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new PawlError("FILE_NOT_FOUND", { message: `File not found: ${file}`, cause });
  }
}
