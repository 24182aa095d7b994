import { PawlError } from "../../core/errors/pawl-error.ts";

const MAX_PATH_CHARS = 500;
/** They decide what this program may do, and may hold keys: no tool reads or changes them. */
const SETTINGS_FILES = ["pawl.yaml", "pawl.yml"];

/** The parts of a path to a definition file, "" being the application itself. Throws `FILE_PATH_INVALID`. */
export function parseDefinitionPath(path: string): readonly string[] {
  const segments = path === "" ? [] : path.replace(/\/$/, "").split("/");
  const flaw = findFlaw(path, segments);
  if (flaw !== undefined) throw invalidPath(path, flaw);
  return segments;
}

/** What a listing leaves out, since no path may name it. */
export function isOutOfReach(segments: readonly string[]): boolean {
  return segments.some(isHidden) || isSettingsFile(segments);
}

function isHidden(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function isSettingsFile(segments: readonly string[]): boolean {
  return segments.length === 1 && SETTINGS_FILES.includes(segments[0]?.toLowerCase() ?? "");
}

export function invalidPath(path: string, flaw: string): PawlError {
  const shown = path.length > 100 ? `${path.slice(0, 100)}...` : path;
  const message = `${JSON.stringify(shown)} names no definition file: ${flaw}.`;
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
