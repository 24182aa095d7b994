import { execFile } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export interface Python {
  /** The interpreter itself, not a shim in front of it. */
  readonly executable: string;
  /** Folders that it needs: its own, and for a venv those of the Python that made it. */
  readonly folders: readonly string[];
}

export type FoundPython =
  | { readonly ok: true; readonly python: Python }
  | { readonly ok: false; readonly reason: string };

const ASK_TIMEOUT_MS = 30_000;
const QUESTION =
  "import json, sys; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, sys.base_exec_prefix]))";

/**
 * Asks an interpreter where it lives: shims (pyenv, asdf) are slow, and need files that a sandbox does not have.
 * `configured` is an interpreter or the folder of a venv; without it `python3` on the PATH.
 */
export async function findPython(configured: string | undefined): Promise<FoundPython> {
  const asked = configured === undefined ? "python3" : await toInterpreter(configured);
  try {
    // Python sees our environment only here: shims read it, and no script is run.
    const { stdout } = await promisify(execFile)(asked, ["-I", "-c", QUESTION], { timeout: ASK_TIMEOUT_MS });
    const [executable = asked, ...prefixes] = JSON.parse(stdout) as string[];
    return { ok: true, python: { executable, folders: await toFolders(executable, prefixes) } };
  } catch (error) {
    return { ok: false, reason: `${asked}: ${error instanceof Error ? error.message : String(error)}`.trim() };
  }
}

async function toInterpreter(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true ? join(path, "bin", "python3") : path;
}

/** Under both of their names where a link leads to them. */
async function toFolders(executable: string, prefixes: readonly string[]): Promise<string[]> {
  const named = [dirname(dirname(executable)), dirname(dirname(await realpath(executable))), ...prefixes];
  const real = await Promise.all(named.map((folder) => realpath(folder).catch(() => folder)));
  return [...new Set([...named, ...real])].filter((folder) => folder !== "/");
}
