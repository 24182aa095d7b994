import { execFile } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseExact } from "../../core/exact-json.ts";

export interface Python {
  /** The interpreter itself, not a shim in front of it. */
  readonly executable: string;
  /** The folders that it is installed in: its own, and for a venv those of the Python that made it. */
  readonly prefixes: readonly string[];
  /** The least that it needs: its own file, its standard library, and its packages. */
  readonly parts: readonly string[];
}

export type FoundPython =
  | { readonly ok: true; readonly python: Python }
  | { readonly ok: false; readonly reason: string };

const ASK_TIMEOUT_MS = 30_000;
const QUESTION = `
import json, os, sys, sysconfig
paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
library = os.path.join(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "")
parts = [sys.executable, os.path.join(sys.prefix, "pyvenv.cfg"), library, *paths, *sys.path]
print(json.dumps([sys.executable, [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix], parts]))
`;

/** Asks an interpreter for its real path, since shims (pyenv, asdf) need files that a sandbox lacks. `configured`: an interpreter or a venv. */
export async function findPython(configured: string | undefined): Promise<FoundPython> {
  const asked = configured === undefined ? "python3" : await toInterpreter(configured);
  try {
    // Python sees our environment only here: shims read it, and no script is run.
    const { stdout } = await promisify(execFile)(asked, ["-I", "-c", QUESTION], { timeout: ASK_TIMEOUT_MS });
    const [executable, prefixes, parts] = parseExact(stdout) as [string, string[], string[]];
    return {
      ok: true,
      python: {
        executable: executable || asked,
        prefixes: await underBothNames(prefixes),
        parts: await underBothNames(parts),
      },
    };
  } catch (error) {
    return { ok: false, reason: `${asked}: ${error instanceof Error ? error.message : String(error)}`.trim() };
  }
}

async function toInterpreter(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true ? join(path, "bin", "python3") : path;
}

/** Where a link leads to it, a path is seen under both of its names. */
async function underBothNames(paths: readonly string[]): Promise<string[]> {
  const named = paths.filter((path) => path.startsWith("/"));
  const real = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
  return [...new Set([...named, ...real])];
}
