import { statSync } from "node:fs";
import { dirname } from "node:path";

// Of the permissions of a file: what those who are neither its owner nor in its group may do.
const READ = 0o4;
const ENTER = 0o1;

/** Whether every path can be reached and read by a user that owns nothing. What does not exist does not count. */
export function areOpenToOthers(paths: readonly string[]): boolean {
  return paths.every((path) => !path.startsWith("/") || (allows(path, READ) && ancestorsOf(path).every(isEnterable)));
}

function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
}

function isEnterable(folder: string): boolean {
  return allows(folder, ENTER);
}

function allows(path: string, right: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined || (found.mode & right) === right;
}
