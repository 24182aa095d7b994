import { resolve } from "node:path";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { DefinitionPart } from "../../dialects/definition.ts";
import { surroundingsOf } from "../agents/agent-surroundings.ts";
import type { Application } from "../application/application.ts";
import { chooseAgent } from "../start/choose-agent.ts";
import { checkWholeText } from "./compile-text.ts";
import { foldersOf } from "./definition-files.ts";
import { loadOptionsOf } from "./load-options.ts";
import { readTextFile } from "./read-text-file.ts";
import type { ShownProblem } from "./shown-problem.ts";

export interface Validation {
  readonly file: string;
  readonly isValid: boolean;
  /** Warnings too. */
  readonly problems: readonly ShownProblem[];
  /** The workflows that can be run: one, or those of a file of agents. */
  readonly graphs: readonly Graph[];
  /** Of a file of agents. */
  readonly parts?: readonly DefinitionPart[];
}

/** Everything that is wrong with a file, all at once. Throws `FILE_NOT_FOUND`. */
export async function validateDefinition(
  { appDir, config }: Pick<Application, "appDir" | "config">,
  file: string,
  folder: string,
): Promise<Validation> {
  const path = resolve(folder, file);
  const loading = loadOptionsOf(config);
  const { definitions, parts, isValid, problems } = await checkWholeText(await readTextFile(path), {
    source: file,
    folders: foldersOf(path, appDir),
    ...loading,
    around: surroundingsOf({ appDir, ...loading }, path),
    hasInlineAgents: await hasInlineAgents(config, appDir),
  });
  const graphs = definitions.map(({ graph }) => graph);
  return { file, isValid, problems, graphs, parts };
}

/** The provider by configuration alone. Options of a command are not known here. */
async function hasInlineAgents(config: Application["config"], folder: string): Promise<boolean> {
  try {
    return (await chooseAgent({ settings: {}, folder, readText: readTextFile }, config)).agent === "inline";
  } catch (error) {
    if (isPawlError(error)) return false;
    throw error;
  }
}
