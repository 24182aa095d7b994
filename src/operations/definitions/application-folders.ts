import { dirname, sep } from "node:path";

/**
 * Where scripts and prompts of a definition are looked for: in the application, in the folder that holds the `workflows/`
 * in which the file lies, beside the file.
 */
export function foldersOf(file: string, appDir: string): readonly string[] {
  const parts = file.split(sep);
  const workflows = parts.lastIndexOf("workflows", parts.length - 2);
  const around = workflows > 0 ? [parts.slice(0, workflows).join(sep) || sep] : [];
  return [...new Set([appDir, ...around, dirname(file)])];
}
