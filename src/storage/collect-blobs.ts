import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Blobs } from "../ports/blobs.ts";
import { toReadFailure } from "./sqlite/storage-failure.ts";

/** Blobs are written before anything refers to them. */
const GRACE_MS = 3_600_000;

export interface Collected {
  readonly blobs: number;
  readonly bytes: number;
}

/**
 * Removes blobs that are older than an hour and that no text in any database of the data folder names, beside the processes that use it. `only looks`: it
 * removes nothing. Throws `JOURNAL_IO`, `JOURNAL_DAMAGED`.
 */
export async function collectBlobs(dataDir: string, blobs: Blobs, onlyLooks: boolean): Promise<Collected> {
  const old = new Map<string, number>();
  for await (const { sha256, bytes, modifiedAt } of blobs.list()) if (isOld(modifiedAt)) old.set(sha256, bytes);
  for (const name of await readdir(dataDir))
    if (name.endsWith(".db") && name !== "owner.db" && old.size > 0) dropNamed(join(dataDir, name), old);
  let collected: Collected = { blobs: 0, bytes: 0 };
  // One that is about to be referred to has been touched meanwhile.
  for await (const { sha256, bytes, modifiedAt } of blobs.list()) {
    if (!old.has(sha256) || !isOld(modifiedAt)) continue;
    if (!onlyLooks) await blobs.remove(sha256);
    collected = { blobs: collected.blobs + 1, bytes: collected.bytes + bytes };
  }
  return collected;
}

function isOld(modifiedAt: number): boolean {
  return Date.now() - modifiedAt > GRACE_MS;
}

/** Any text that has a hash in it may mean the blob. */
function dropNamed(path: string, hashes: Map<string, number>): void {
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    try {
      for (const text of readTexts(database)) for (const [hash] of text.matchAll(/[0-9a-f]{64}/g)) hashes.delete(hash);
    } finally {
      database.close();
    }
  } catch (error) {
    throw toReadFailure(error, path);
  }
}

function* readTexts(database: DatabaseSync): Generator<string> {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name } of tables)
    for (const row of database.prepare(`SELECT * FROM "${name}"`).iterate())
      for (const value of Object.values(row)) if (typeof value === "string" && value.length >= 64) yield value;
}
