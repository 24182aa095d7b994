import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";

/** Programs of the system that hold others within limits. Absent: not installed. */
export interface Tools {
  readonly bwrap?: string;
  readonly setpriv?: string | undefined;
  readonly prlimit?: string;
  readonly env?: string;
  readonly sh?: string;
}

/** `searchPath` is a PATH. */
export function findTools(searchPath: string): Tools {
  const names = ["bwrap", "setpriv", "prlimit", "env", "sh"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const path = findProgram(name, searchPath);
      return path === undefined ? [] : [[name, toRealPath(path)]];
    }),
  );
}

/** A program in the absolute folders of a PATH, or at an absolute path. Undefined: it is not there. */
export function findProgram(name: string, searchPath: string): string | undefined {
  const folders = isAbsolute(name) ? ["/"] : searchPath.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** The real path is seen inside a sandbox as well. A program with many names keeps the one that tells which it is. */
function toRealPath(path: string): string {
  const real = realpathSync(path);
  return basename(real) === basename(path) ? real : path;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
