import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isPawlError, PawlError } from "../../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { decodeUtf8 } from "../../../ports/decode-utf8.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";

/** The folder that files are read from. */
export interface FileSource {
  /** Its name for people. */
  readonly shown: string;
  list(options: { readonly recursive: boolean }): Promise<readonly FoundFile[]>;
  read(path: string): Promise<Uint8Array>;
}

interface FoundFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: number;
}

export interface Wanted {
  /** Patterns of names, with `*` and `?`. Empty: every name. */
  readonly include: readonly string[];
  readonly recursive: boolean;
  readonly maxFiles: number;
}

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 8 * 1024 * 1024;
export const MOST_FILES = 1_000;

/**
 * The texts of a folder as items of an input: `{path, name, bytes, text}`, by their paths. What is no UTF-8 text is left
 * out, as are hidden names, `node_modules` and links. Nothing is cut: what is too large or too much is an error.
 */
export async function readDirectory(source: FileSource, wanted: Wanted): Promise<readonly JsonObject[]> {
  const found = (await listAll(source, wanted)).filter(({ path }) => isWanted(path, wanted.include));
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  if (found.length > wanted.maxFiles) throw tooMuch(source, `has ${found.length} files; ${wanted.maxFiles} are read`);
  const items: JsonObject[] = [];
  let total = 0;
  for (const { path, bytes } of found) {
    if (bytes > MAX_FILE_BYTES) throw tooMuch(source, `has ${path} with ${bytes} bytes; ${MAX_FILE_BYTES} are read`);
    const content = await readOne(source, path);
    total += content.byteLength;
    if (total > MAX_TOTAL_BYTES) throw tooMuch(source, `has more than ${MAX_TOTAL_BYTES} bytes of text`);
    const text = content.includes(0) ? undefined : decodeUtf8(content, "drop");
    if (text === undefined) continue;
    items.push({ path, name: path.split("/").at(-1) ?? path, bytes: content.byteLength, text });
  }
  return items;
}

export function folderSource(folder: string, shown: string): FileSource {
  return {
    shown,
    list: ({ recursive }) => walk(folder, "", recursive),
    read: (path) => readFile(join(folder, path)),
  };
}

export function storageSource(files: FileStorage, prefix: string): FileSource {
  const folder = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  return {
    shown: `storage:${prefix}`,
    async list({ recursive }) {
      const found = (await files.list(folder)).map(({ path, bytes }) => ({ path: path.slice(folder.length), bytes }));
      return found.filter(({ path }) => recursive || !path.includes("/"));
    },
    read: async (path) => (await files.read(folder + path)) ?? new Uint8Array(),
  };
}

/** Links are not followed: they may lead anywhere. */
async function walk(folder: string, below: string, recursive: boolean): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (isHidden(entry.name)) continue;
    if (entry.isDirectory() && recursive) found.push(...(await walk(folder, path, recursive)));
    else if (entry.isFile()) found.push({ path, bytes: (await stat(join(folder, path))).size });
    // Far beyond what any input may hold: there is no need to see the rest.
    if (found.length > 100 * MOST_FILES) break;
  }
  return found;
}

function isHidden(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function isWanted(path: string, patterns: readonly string[]): boolean {
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  return !parts.some(isHidden) && (patterns.length === 0 || patterns.some((pattern) => matchesGlob(name, pattern)));
}

async function listAll(source: FileSource, wanted: Wanted): Promise<FoundFile[]> {
  try {
    return [...(await source.list(wanted))];
  } catch (error) {
    throw isPawlError(error) ? error : unreadable(source, "cannot be read", error);
  }
}

async function readOne(source: FileSource, path: string): Promise<Uint8Array> {
  try {
    return await source.read(path);
  } catch (error) {
    throw isPawlError(error) ? error : unreadable(source, `has ${path}, which cannot be read`, error);
  }
}

function unreadable({ shown }: FileSource, why: string, cause: unknown): PawlError {
  const { code = "unknown" } = cause as NodeJS.ErrnoException;
  return new PawlError("INPUT_INVALID", {
    message: `${shown} ${why} (${code}).`,
    remedy:
      "Let the user that Pawl runs as read it, or leave it out by `directory: {include: ...}` in the `input_schema`.",
    cause,
  });
}

function tooMuch({ shown }: FileSource, why: string): PawlError {
  return new PawlError("INPUT_INVALID", {
    message: `${shown} ${why} as an input.`,
    remedy: "Name a smaller folder, or take fewer files by `directory: {include: ...}` in the `input_schema`.",
  });
}

/**
 * Whether a name fits a pattern with `*` (any characters) and `?` (one), whatever the case. Whoever saves a definition writes the
 * pattern: it takes no longer than the lengths of the two multiplied.
 */
export function matchesGlob(name: string, pattern: string): boolean {
  const [text, glob] = [[...name.toLowerCase()], [...pattern.toLowerCase()]];
  let at = 0;
  let inGlob = 0;
  let star: { readonly inGlob: number; at: number } | undefined;
  while (at < text.length) {
    if (glob[inGlob] === "*") {
      star = { inGlob, at };
      inGlob += 1;
    } else if (inGlob < glob.length && (glob[inGlob] === "?" || glob[inGlob] === text[at])) {
      at += 1;
      inGlob += 1;
    } else if (star !== undefined) {
      // The last star now matches one character more.
      star.at += 1;
      at = star.at;
      inGlob = star.inGlob + 1;
    } else return false;
  }
  return glob.slice(inGlob).every((sign) => sign === "*");
}
