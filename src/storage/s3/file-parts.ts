import { hash, randomUUID } from "node:crypto";
import type { StoredObject } from "./s3-bucket.ts";

/**
 * How a file lies in the bucket. `files/PATH` is its base: an object that anybody can read. What was added since lies beside
 * it, each addition an object of its own under `parts/HASH-OF-PATH/ID/`, where ID is the base's: a new base leaves the parts
 * of the old one behind, in one step. Nobody ever writes a name twice, so that no writer can overwrite another's addition,
 * also in stores that know no conditional writes.
 */
export const PARTS = "parts/";
const FILES = "files/";
/** The store's metadata of a base: its ID, and which parts of the one before it are in it. */
const ID = "pawl-id";
const FOLDED = "pawl-folded";
/** The ID of a base that begins empty. All who begin a file at once take the same, and so find each other's parts. */
const FIRST_ID = "0";
const CLAIM = "claim-";

export interface Part {
  readonly key: string;
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** A file as it is at one moment. */
export interface SeenFile {
  /** Undefined: there is no such file. */
  readonly base: StoredObject | undefined;
  readonly id: string;
  /** What comes behind the base, in order. */
  readonly parts: readonly Part[];
  /** Who is about to write a new base. */
  readonly claims: readonly Part[];
  /** Parts that belong to no base that is there. */
  readonly left: readonly Part[];
  readonly size: number;
}

export function fileKeyOf(path: string): string {
  return FILES + path;
}

/** Undefined: the key is no file's. */
export function pathOf(key: string): string | undefined {
  return key.startsWith(FILES) ? key.slice(FILES.length) : undefined;
}

/** The folder of the parts of a file. A hash, for a key has room for one long path only. */
export function partsFolderOf(path: string): string {
  return `${PARTS}${hash("sha256", path).slice(0, 32)}/`;
}

export function toSeenFile(
  folder: string,
  base: StoredObject | undefined,
  listed: readonly Omit<Part, "name">[],
): SeenFile {
  const id = base === undefined ? firstIdOf(listed) : idOf(base);
  const own = `${folder}${id}/`;
  const mine = listed.filter(({ key }) => base !== undefined && key.startsWith(own));
  const named = mine.map((part): Part => ({ ...part, name: part.key.slice(own.length) }));
  const parts = named.filter(({ name }) => !name.startsWith(CLAIM));
  return {
    base,
    id,
    parts,
    claims: named.filter(({ name }) => name.startsWith(CLAIM)),
    left: listed.filter((part) => !mine.includes(part)).map((part) => ({ ...part, name: "" })),
    size: parts.reduce((sum, { bytes }) => sum + bytes, base?.bytes ?? 0),
  };
}

/** What a new base is to bear. `folded` are the parts whose content it takes over or replaces. */
export function toBaseMetadata(id: string, folded: readonly Part[] = []): Readonly<Record<string, string>> {
  return {
    [ID]: id,
    [FOLDED]: folded
      .slice(-MAX_FOLDED)
      .map(({ name }) => shortOf(name))
      .join(""),
  };
}

/** Whether a new base has taken a part over. */
export function hasFolded({ metadata }: StoredObject, name: string): boolean {
  const folded = metadata[FOLDED] ?? "";
  for (let at = 0; at < folded.length; at += SHORT) if (folded.startsWith(shortOf(name), at)) return true;
  return false;
}

/** Names sort by the place where their content begins. */
export function newPartName(from: number): string {
  return `${String(from).padStart(16, "0")}-${randomUUID()}`;
}

export function newClaimName(): string {
  return CLAIM + randomUUID();
}

/** Two have written at the same place just now, and at least one of them is about to take that back. */
export function hasFork({ base, parts }: SeenFile, isFresh: (part: Part) => boolean): boolean {
  let end = base?.bytes ?? 0;
  for (const [index, part] of parts.entries()) {
    const isFork = Number.parseInt(part.name, 10) !== end;
    const before = parts[index - 1] ?? part;
    if (isFork && (isFresh(part) || isFresh(before))) return true;
    end += part.bytes;
  }
  return false;
}

/** The metadata of an object may have 2 KB. Only whoever has added lately still asks. */
const SHORT = 12;
const MAX_FOLDED = 128;

function shortOf(name: string): string {
  return name.slice(-SHORT);
}

/** A base that somebody else has uploaded bears no ID. */
function idOf({ metadata, etag }: StoredObject): string {
  return metadata[ID] ?? hash("sha256", etag).slice(0, 32);
}

/** Parts that a removed file has left behind do not come back with a new one. */
function firstIdOf(left: readonly { readonly key: string }[]): string {
  const names = left.map(({ key }) => key).join("\n");
  return left.length === 0 ? FIRST_ID : `${FIRST_ID}-${hash("sha256", names).slice(0, 32)}`;
}
