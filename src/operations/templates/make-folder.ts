import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. Node's own way never ends where a folder that exists takes no other, as in `/proc`.
 * Throws what the system says. `mode`: of the folder itself.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  try {
    await mkdirOrFind(folder, mode);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdirOrFind(folder, mode);
  }
}

async function mkdirOrFind(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
