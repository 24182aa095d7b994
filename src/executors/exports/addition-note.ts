import { hash } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { FileStorage } from "../../ports/file-storage.ts";

/** The note about a file that rows are added to. */
export interface Note {
  /** Additions that have happened, the latest last. */
  readonly done: readonly string[];
  /** How long the file was after the last of them. Undefined: nobody knows. */
  readonly length: number | undefined;
  /** The additions that were begun together. It is on disk before the file is touched, and goes when it has happened. */
  readonly pending: PendingAdditions | undefined;
}

export interface PendingAdditions {
  readonly keys: readonly string[];
  readonly from: number;
  readonly to: number;
  /** The hash of the bytes from `from` until before `to`, once the addition has happened. */
  readonly hash: string;
  /** The file is exchanged for another, at once: then nothing can be half of it. */
  readonly isWhole: boolean;
}

/** A step that is done again after a crash comes at once: what was added longer ago than so many others is not asked for. */
const MAX_KEYS = 1_000;

export async function readNote(files: FileStorage, path: string): Promise<Note> {
  const content = await files.read(placeOf(path));
  const note: Json | undefined = content === undefined ? undefined : parseJson(Buffer.from(content).toString());
  if (!isJsonObject(note)) return { done: [], length: undefined, pending: undefined };
  const { done, length, pending } = note;
  return {
    done: textsIn(done),
    length: typeof length === "number" ? length : undefined,
    pending: isJsonObject(pending) ? readPending(pending) : undefined,
  };
}

export async function writeNote(files: FileStorage, path: string, { done, length, pending }: Note): Promise<void> {
  const note = { path, done: done.slice(-MAX_KEYS), length, pending };
  await files.write(placeOf(path), `${JSON.stringify(note)}\n`);
}

/**
 * Settles an addition that was begun and not noted as done: it has happened, or a part of it lies behind the old end, to
 * be written over. Returns the note as it is then, and where the file ends.
 */
export async function settleNote(
  files: FileStorage,
  path: string,
  note: Note,
): Promise<Note & { readonly end: number }> {
  const size = (await files.sizeOf(path)) ?? 0;
  const { pending, done } = note;
  if (pending === undefined) return { ...note, end: size };
  const { keys, from, to, hash: wanted, isWhole } = pending;
  if (size >= to && hashOf(await files.readRange(path, { from, to })) === wanted) {
    return { done: [...done, ...keys], length: to, pending: undefined, end: size };
  }
  const end = isWhole ? size : Math.min(size, from);
  return { done, length: isWhole ? undefined : note.length, pending: undefined, end };
}

export function hashOf(content: Uint8Array): string {
  return hash("sha256", content);
}

function placeOf(path: string): string {
  return `csv-additions/${hash("sha256", path).slice(0, 32)}.json`;
}

function readPending(pending: JsonObject): PendingAdditions | undefined {
  const { keys, from, to, hash: wanted, isWhole } = pending;
  if (typeof from !== "number" || typeof to !== "number" || typeof wanted !== "string") return undefined;
  return { keys: textsIn(keys), from, to, hash: wanted, isWhole: isWhole === true };
}

function textsIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];
}
