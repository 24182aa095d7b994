import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it, where they are not there, for nobody but us: records of runs are nobody else's business. Node's
 * own way never ends where a folder that exists takes no other, as in `/proc`. Throws what the system says.
 */
export function makeFolder(folder: string): void {
  try {
    makeOrFind(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    makeFolder(dirname(folder));
    makeOrFind(folder);
  }
}

function makeOrFind(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Makes an empty file for nobody but us, where there is none: SQLite makes files that everybody may read. */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
