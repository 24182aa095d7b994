import { PawlError } from "../core/errors/pawl-error.ts";
import { writeExact } from "../core/exact-json.ts";

/** The folder of unfinished writes. No path may name it, so that nobody reads half a file. */
export const INCOMING = ".incoming";

const MAX_PATH_BYTES = 1_024;
const MAX_SEGMENT_BYTES = 200;

/** The segments of a path in the application's storage. Throws `STORAGE_PATH_INVALID` if it could lead out of it. */
export function parseStoragePath(path: string): readonly string[] {
  const segments = path.split("/");
  const flaw = findFlaw(path, segments);
  if (flaw !== undefined) throw invalidStoragePath(path, flaw);
  return segments;
}

/** Folders each of whose folders is somebody's own: a tenant's, or that of a run, in which its commands may make links. */
const OWNED = ["tenants", "artifacts"];

/** The folder that no link in it leads out of, and that none from elsewhere leads into. */
export function ownFolderOf([first = "", second = ""]: readonly string[]): string {
  return OWNED.includes(first) ? `${first}/${second}` : "";
}

/** The folder part of a prefix: everything that starts with the prefix lies in it. */
export function parseStoragePrefix(prefix: string): readonly string[] {
  const folders = prefix.split("/").slice(0, -1);
  const flaw = folders.length === 0 ? undefined : findFlaw(prefix, folders);
  if (flaw !== undefined || prefix.includes("\0")) throw invalidStoragePath(prefix, flaw ?? "it holds a NUL");
  return folders;
}

export function invalidStoragePath(path: string, flaw: string, cause?: unknown): PawlError {
  const shown = path.length > 100 ? `${path.slice(0, 100)}...` : path;
  return new PawlError("STORAGE_PATH_INVALID", {
    message: `${writeExact(shown)} is no path in the storage: ${flaw}.`,
    cause,
  });
}

/** Another process, or a person, was faster. */
export function changedMeanwhile(path: string): PawlError {
  return new PawlError("STORAGE_CHANGED", { message: `"${path}" was changed at the same time. Nothing was written.` });
}

function findFlaw(path: string, segments: readonly string[]): string | undefined {
  if (path === "") return "it is empty";
  if (path.includes("\0")) return "it holds a NUL";
  if (path.includes("\\")) return "it holds a backslash";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "it is absolute";
  if (segments.includes("")) return "a part of it is empty";
  if (segments.includes("..") || segments.includes(".")) return "it holds `.` or `..`";
  if (segments[0] === INCOMING) return `\`${INCOMING}\` is reserved`;
  if (byteLength(path) > MAX_PATH_BYTES) return `it is longer than ${MAX_PATH_BYTES} bytes`;
  if (segments.some((segment) => byteLength(segment) > MAX_SEGMENT_BYTES))
    return `a part of it is longer than ${MAX_SEGMENT_BYTES} bytes`;
  return undefined;
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
