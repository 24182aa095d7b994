import { hash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";

export interface DefinitionFile {
  readonly content: Uint8Array;
  readonly revision: string;
}

interface FolderEntry {
  /** Ends with `/` if it is a folder. */
  readonly path: string;
  /** Of a file, what changes with its content. */
  readonly stamp: string;
}

const MAX_FILE_BYTES = 1024 * 1024;
export const MAX_ENTRIES = 5_000;

/** The application's files, for tools. Links, names that begin with a dot, the settings and the data directory are out of reach. */
export class DefinitionFolder {
  readonly #folder: string;
  readonly #forbidden: readonly string[];

  /** Nothing at or below the `forbidden` places, such as the data directory, is ever touched. */
  constructor(folder: string, forbidden: readonly string[]) {
    this.#folder = resolve(folder);
    this.#forbidden = forbidden.map((place) => resolve(place));
  }

  async read(path: string): Promise<DefinitionFile> {
    const place = await this.#locate(path);
    const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
      throw toMissing(error, path);
    });
    try {
      const { size } = await file.stat().then((stats) => (stats.isFile() ? stats : Promise.reject(missing(path))));
      if (size > MAX_FILE_BYTES) throw tooLarge(path);
      const content = await file.readFile();
      return { content, revision: revisionOf(content) };
    } finally {
      await file.close();
    }
  }

  /** Atomic: readers see the old content or the new one. Returns the revision. */
  async write(path: string, content: Uint8Array): Promise<string> {
    if (content.byteLength > MAX_FILE_BYTES) throw tooLarge(path);
    const place = await this.#locate(path);
    const folder = join(place, "..");
    await mkdir(folder, { recursive: true }).catch((error: unknown) => {
      throw toConflict(error, path);
    });
    const incoming = join(folder, `.pawl-${randomUUID()}.tmp`);
    try {
      await writeThrough(incoming, content);
      await rename(incoming, place);
    } catch (error) {
      await rm(incoming, { force: true });
      throw toConflict(error, path);
    }
    return revisionOf(content);
  }

  /** False: there was none. */
  async remove(path: string): Promise<boolean> {
    const place = await this.#locate(path);
    try {
      await rm(place);
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false;
      throw toMissing(error, path);
    }
  }

  /** In the order of names. Throws `TOO_LARGE` where there are more than so many. */
  async list(
    path: string,
    isDeep: boolean,
  ): Promise<{ readonly entries: readonly string[]; readonly revision: string }> {
    const segments = parseDefinitionPath(path);
    await this.#refuseLinks(path, segments);
    const entries: FolderEntry[] = [];
    for await (const entry of this.#walk(segments, isDeep)) {
      if (entries.length === MAX_ENTRIES)
        throw new PawlError("TOO_LARGE", {
          message: `"${path}" has more than ${MAX_ENTRIES} entries.`,
          remedy: "List its folders one by one.",
        });
      entries.push(entry);
    }
    const written = writeExact(entries.map((entry) => [entry.path, entry.stamp]));
    return { entries: entries.map((entry) => entry.path), revision: revisionOf(Buffer.from(written)) };
  }

  async #locate(path: string): Promise<string> {
    const segments = parseDefinitionPath(path);
    if (segments.length === 0) throw invalidPath(path, "it is the application itself");
    return await this.#refuseLinks(path, segments);
  }

  async #refuseLinks(path: string, segments: readonly string[]): Promise<string> {
    let place = this.#folder;
    for (const segment of segments) {
      place = join(place, segment);
      if (this.#forbidden.includes(place)) throw invalidPath(path, "it is kept by Pawl itself");
      const stats = await lstat(place).catch(() => undefined);
      if (stats?.isSymbolicLink()) throw invalidPath(path, "a part of it is a link");
    }
    return place;
  }

  async *#walk(segments: readonly string[], isDeep: boolean): AsyncIterable<FolderEntry> {
    const folder = join(this.#folder, ...segments);
    const found = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      throw toMissing(error, segments.join("/"));
    });
    for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = [...segments, entry.name];
      const path = inner.join("/");
      // A listing leaves these out, since no path may name them.
      if (inner.some(isHidden) || isSettingsFile(inner) || this.#forbidden.includes(join(folder, entry.name))) continue;
      if (entry.isDirectory()) yield { path: `${path}/`, stamp: "" };
      if (entry.isDirectory() && isDeep) yield* this.#walk(inner, isDeep);
      if (entry.isFile()) yield { path, stamp: await stampOf(join(folder, entry.name)) };
    }
  }
}

async function stampOf(place: string): Promise<string> {
  const { size, mtimeMs } = await lstat(place);
  return `${size} ${mtimeMs}`;
}

async function writeThrough(place: string, content: Uint8Array): Promise<void> {
  const file = await open(place, "wx");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

function revisionOf(content: Uint8Array): string {
  return hash("sha256", content).slice(0, 16);
}

function toMissing(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === "ELOOP") return invalidPath(path, "it is a link");
  return ["ENOENT", "ENOTDIR", "EISDIR", "ERR_FS_EISDIR"].includes(code) ? missing(path) : error;
}

function toConflict(error: unknown, path: string): unknown {
  const isConflict = ["EEXIST", "ENOTDIR", "EISDIR", "ENOTEMPTY"].includes(codeOf(error));
  return isConflict ? invalidPath(path, "a file and a folder would have the same name") : error;
}

function missing(path: string): PawlError {
  return new PawlError("FILE_NOT_FOUND", {
    message: `The application has no file "${path}".`,
    remedy: "List what there is with `core.state.listDefinitionDirectory`.",
  });
}

function tooLarge(path: string): PawlError {
  return new PawlError("TOO_LARGE", { message: `"${path}" is larger than ${MAX_FILE_BYTES} bytes.` });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

const MAX_PATH_CHARS = 500;
/** They decide what this program may do, and may hold keys: no tool reads or changes them. */
const SETTINGS_FILES = ["pawl.yaml", "pawl.yml"];

/** The parts of a path to a definition file, "" being the application itself. Throws `FILE_PATH_INVALID`. */
function parseDefinitionPath(path: string): readonly string[] {
  const segments = path === "" ? [] : path.replace(/\/$/, "").split("/");
  const flaw = findFlaw(path, segments);
  if (flaw !== undefined) throw invalidPath(path, flaw);
  return segments;
}

function isHidden(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function isSettingsFile(segments: readonly string[]): boolean {
  return segments.length === 1 && SETTINGS_FILES.includes(segments[0]?.toLowerCase() ?? "");
}

function invalidPath(path: string, flaw: string): PawlError {
  const shown = path.length > 100 ? `${path.slice(0, 100)}...` : path;
  const message = `${writeExact(shown)} names no definition file: ${flaw}.`;
  return new PawlError("FILE_PATH_INVALID", { message });
}

function findFlaw(path: string, segments: readonly string[]): string | undefined {
  if (path.length > MAX_PATH_CHARS) return `it is longer than ${MAX_PATH_CHARS} characters`;
  if (path.includes("\\") || [...path].some((char) => char < " ")) return "it holds a backslash or a control character";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "it is absolute";
  if (segments.includes("")) return "a part of it is empty";
  if (segments.includes("..") || segments.includes(".")) return "it holds `.` or `..`";
  if (segments.some(isHidden)) return "a part of it begins with a dot, or is `node_modules`";
  if (segments.length === 1 && SETTINGS_FILES.includes(segments[0]?.toLowerCase() ?? ""))
    return "it is a settings file";
  return undefined;
}
