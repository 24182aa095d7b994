import { accessSync, constants, realpathSync } from "node:fs";
import { basename, delimiter, join } from "node:path";

/** Programs of the system that hold others within limits. Absent: not installed. */
export interface Tools {
  readonly bwrap?: string;
  readonly setpriv?: string;
  readonly prlimit?: string;
  readonly env?: string;
  readonly sh?: string;
}

/** `searchPath` is a PATH; only absolute folders of it count. */
export function findTools(searchPath: string): Tools {
  const folders = searchPath.split(delimiter).filter((folder) => folder.startsWith("/"));
  const names = ["bwrap", "setpriv", "prlimit", "env", "sh"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const path = findProgram(name, folders);
      return path === undefined ? [] : [[name, path]];
    }),
  );
}

function findProgram(name: string, folders: readonly string[]): string | undefined {
  const found = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (found === undefined) return undefined;
  // Where it lies it is seen inside a sandbox as well; where one program has many names, the name tells which it is.
  const real = realpathSync(found);
  return basename(real) === name ? real : found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
