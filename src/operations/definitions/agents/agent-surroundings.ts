import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { LoadOptions } from "../../../dialects/definition.ts";
import { hasWorkflowNamed, type NamePlaces } from "../definition-files.ts";
import { looksLikeFile } from "../looks-like-file.ts";
import { readAgentFiles } from "./agent-files.ts";

/** The application of a text of agents. `file`: the text's own path, if it has one. */
export type Surroundings = NamePlaces & { readonly file: string | undefined };

/** Finds the things that a file of agents may name beside its own agents and workflows. */
export function surroundingsOf(places: Surroundings): Pick<LoadOptions, "agentFiles" | "hasWorkflow"> {
  const { appDir, file } = places;
  const folders = file === undefined ? [appDir] : [dirname(file), appDir];
  return {
    agentFiles: () => readAgentFiles(appDir, file),
    hasWorkflow: async (name) =>
      looksLikeFile(name)
        ? !name.includes("\0") && folders.some((folder) => existsSync(resolve(folder, name)))
        : hasWorkflowNamed(places, name, file),
  };
}
