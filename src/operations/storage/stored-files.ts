import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { ListedFile } from "../../ports/file-storage.ts";
import type { Stores } from "../application/ports.ts";
import { type Frozen, timeSchema } from "../schemas.ts";

export const storedFileSchema = z
  .object({ path: z.string(), bytes: z.number().int(), modified_at: timeSchema })
  .meta({ id: "StoredFile" });

export type StoredFile = Frozen<z.output<typeof storedFileSchema>>;

/** Those whose path begins like this; "" is all. */
export async function listStoredFiles(app: Stores, prefix: string): Promise<readonly StoredFile[]> {
  const files = await (await app.files()).list(prefix);
  return files.map(describeStoredFile);
}

export function describeStoredFile({ path, bytes, modifiedAt }: ListedFile): StoredFile {
  return { path, bytes, modified_at: toIsoTime(modifiedAt) };
}

/** Throws `STORAGE_MISSING`, `STORAGE_PATH_INVALID`. */
export async function readStoredFile(app: Stores, path: string): Promise<Uint8Array> {
  const content = await (await app.files()).read(path);
  if (content === undefined) throw missing(path);
  return content;
}

export async function writeStoredFile(app: Stores, path: string, content: Uint8Array): Promise<void> {
  await (await app.files()).write(path, content);
}

/** Throws `STORAGE_MISSING` where there is none. */
export async function removeStoredFile(app: Stores, path: string): Promise<void> {
  if (!(await (await app.files()).remove(path))) throw missing(path);
}

function missing(path: string): PawlError {
  return new PawlError("STORAGE_MISSING", { message: `There is no stored file "${path}".` });
}
