import { resolve } from "node:path";
import type { Graph } from "../core/graph/graph.ts";
import type { Application } from "./application.ts";
import { foldersOf } from "./application-folders.ts";
import { checkText } from "./compile-text.ts";
import { loadOptionsOf } from "./load-options.ts";
import { readTextFile } from "./read-text-file.ts";
import type { ShownProblem } from "./shown-problem.ts";

export interface Validation {
  readonly file: string;
  readonly isValid: boolean;
  /** Warnings too. */
  readonly problems: readonly ShownProblem[];
  readonly graph?: Graph;
}

/** Everything that is wrong with a file, all at once. Throws `FILE_NOT_FOUND`. */
export async function validateDefinition(
  { appDir, config }: Pick<Application, "appDir" | "config">,
  file: string,
  folder: string,
): Promise<Validation> {
  const path = resolve(folder, file);
  const { definition, problems } = await checkText(await readTextFile(path), {
    source: file,
    folders: foldersOf(path, appDir),
    ...loadOptionsOf(config),
  });
  if (definition === undefined) return { file, isValid: false, problems };
  return { file, isValid: true, problems, graph: definition.graph };
}
