import { hash } from "node:crypto";
import { z } from "zod";
import { writeExact } from "../../core/exact-json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { FileStorage } from "../../ports/file-storage.ts";

const texts = z.array(z.string()).catch([]);

const PENDING = z.object({
  keys: texts,
  from: z.number(),
  to: z.number(),
  /** The hash of the bytes from `from` until before `to`, once the addition has happened. */
  hash: z.string(),
  /** The file is exchanged for another, at once: then nothing can be half of it. */
  isWhole: z.boolean().catch(false),
});

const NOTE = z.object({
  /** Additions that have happened, the latest last. */
  done: texts,
  /** How long the file was after the last of them. Undefined: nobody knows. */
  length: z.number().optional().catch(undefined),
  /** The additions that were begun together. It is on disk before the file is touched, and goes when it has happened. */
  pending: PENDING.optional().catch(undefined),
});

/** The note about a file that rows are added to. */
type Note = Readonly<z.infer<typeof NOTE>>;
export type PendingAdditions = Readonly<z.infer<typeof PENDING>>;
/** A note with where the file ends as far as it counts, and how long it is. */
export type SettledNote = Note & { readonly end: number; readonly size: number };

/** A step that is done again after a crash comes at once: what was added longer ago than so many others is not asked for. */
const MAX_KEYS = 1_000;

export async function readNote(files: FileStorage, path: string): Promise<Note> {
  const content = await files.read(placeOf(path));
  const read = NOTE.safeParse(content === undefined ? undefined : parseJson(Buffer.from(content).toString()));
  return read.success ? read.data : { done: [] };
}

export async function writeNote(files: FileStorage, path: string, { done, length, pending }: Note): Promise<void> {
  const note = { path, done: done.slice(-MAX_KEYS), length, pending };
  await files.write(placeOf(path), `${writeExact(note)}\n`);
}

/**
 * Settles an addition that was begun and not noted as done: it has happened, or a part of it lies behind the old end, to
 * be written over. Returns the note as it is then, and where the file ends.
 */
export async function settleNote(files: FileStorage, path: string, note: Note): Promise<SettledNote> {
  const size = (await files.sizeOf(path)) ?? 0;
  const { pending, done } = note;
  if (pending === undefined) return { ...note, end: size, size };
  const { keys, from, to, hash: wanted, isWhole } = pending;
  if (size >= to && hashOf(await files.readRange(path, { from, to })) === wanted) {
    return { done: [...done, ...keys], length: to, pending: undefined, end: size, size };
  }
  // Where nothing can be half written, what lies there is another process's.
  const end = isWhole || files.extendsAtomically === true ? size : Math.min(size, from);
  return { done, length: isWhole ? undefined : note.length, pending: undefined, end, size };
}

export function hashOf(content: Uint8Array): string {
  return hash("sha256", content);
}

function placeOf(path: string): string {
  return `csv-additions/${hash("sha256", path).slice(0, 32)}.json`;
}
