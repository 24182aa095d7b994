import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** A program on a search path of absolute folders, or at an absolute path. `undefined`: it is not there. */
export function findProgram(name: string, searchPath: string): string | undefined {
  const folders = isAbsolute(name) ? ["/"] : searchPath.split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
