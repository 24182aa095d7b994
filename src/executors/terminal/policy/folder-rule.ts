import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type { Refusal } from "./refuse.ts";

/** Whether a folder is, with all links followed, one of the roots or inside of one. */
export function findForbiddenFolder(folder: string, roots: readonly string[]): Refusal | undefined {
  const real = realPathOf(folder);
  // One that is missing cannot be opened either.
  if (real === undefined || roots.some((root) => isInside(real, realPathOf(root)))) return undefined;
  return {
    rule: "working-directory",
    reason: "A terminal may be opened only in the home folder, the folder for temporary files, or the current one.",
    remedy: "Choose a folder below one of these, or lower the security level to low.",
  };
}

function isInside(folder: string, root: string | undefined): boolean {
  if (root === undefined) return false;
  return folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
