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

/** Takes the hashes away that something refers to. */
export type DropNamed = (hashes: Map<string, unknown>) => Promise<void>;

/**
 * Removes blobs that are older than an hour and that nothing refers to, beside the processes that write both. `onlyLooks`: it removes
 * nothing.
 */
export async function collectBlobs(blobs: Blobs, dropNamed: DropNamed, onlyLooks: boolean): Promise<Collected> {
  const old = new Map<string, number>();
  for await (const { sha256, bytes, modifiedAt } of blobs.list()) if (isOld(modifiedAt)) old.set(sha256, bytes);
  // Read after the blobs were listed: one that is about to be referred to by then is written again, which makes it young.
  if (old.size > 0) await dropNamed(old);
  let collected: Collected = { blobs: 0, bytes: 0 };
  for await (const { sha256, bytes, modifiedAt } of blobs.list()) {
    if (!old.has(sha256) || !isOld(modifiedAt)) continue;
    // A list may be older than what became of one of its blobs since.
    if (!onlyLooks && !(await blobs.remove(sha256, { before: Date.now() - GRACE_MS }))) continue;
    collected = { blobs: collected.blobs + 1, bytes: collected.bytes + bytes };
  }
  return collected;
}

function isOld(modifiedAt: number): boolean {
  return Date.now() - modifiedAt > GRACE_MS;
}

/** Whatever text in any database of the data folder has a hash in it may mean the blob. Throws `JOURNAL_IO`, `JOURNAL_DAMAGED`. */
export function namedInFolder(dataDir: string): DropNamed {
  return async (hashes) => {
    for (const name of await readdir(dataDir))
      if (name.endsWith(".db") && name !== "owner.db" && hashes.size > 0) dropNamedIn(join(dataDir, name), hashes);
  };
}

function dropNamedIn(path: string, hashes: Map<string, unknown>): void {
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
