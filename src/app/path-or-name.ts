import { resolve } from "node:path";

/** A bare name is looked for on the PATH. */
export function pathOrName(given: string, folder: string): string {
  return /[\\/]/.test(given) ? resolve(folder, given) : given;
}
