import { resolve } from "node:path";
import type { Graph } from "../core/graph/graph.ts";
import { checkText, type ShownProblem } from "./compile-text.ts";
import { readTextFile } from "./read-text-file.ts";

export interface Validation {
  readonly file: string;
  readonly isValid: boolean;
  /** Warnings too. */
  readonly problems: readonly ShownProblem[];
  readonly graph?: Graph;
}

/** Everything that is wrong with a file, all at once. Throws `FILE_NOT_FOUND`. */
export async function validateDefinition(file: string, folder: string): Promise<Validation> {
  const { definition, problems } = await checkText(await readTextFile(resolve(folder, file)), file);
  if (definition === undefined) return { file, isValid: false, problems };
  return { file, isValid: true, problems, graph: definition.graph };
}
