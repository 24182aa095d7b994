import { existsSync } from "node:fs";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { EVERYTHING } from "../../core/trust/grant.ts";
import type { DefinitionPart } from "../../dialects/definition.ts";
import { listAgentNames } from "../../dialects/list-names.ts";
import type { ShownProblem } from "../../hosts/compiled-definition.ts";
import type { Place } from "../application/ports.ts";
import { listAgentFiles } from "../definitions/agents/agent-files.ts";
import { findWorkspace } from "../definitions/agents/workspace.ts";
import { checkWholeText, type TextOrigin } from "../definitions/compile/report-on-text.ts";
import { agentsFileOf, foldersOf } from "../definitions/definition-files.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { missingAgentsFile } from "./missing-agents-file.ts";

export type AgentPlaces = Pick<Place, "appDir" | "config">;

export interface AgentSource {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  /** Empty where it cannot be used. */
  readonly agents: readonly DefinitionPart[];
  readonly workflows: readonly DefinitionPart[];
  readonly isValid: boolean;
  /** The names of its agents, even if the file cannot be used. */
  readonly names: readonly string[];
  readonly problems: readonly ShownProblem[];
}

/** The agents file, where there is one, before those of the workspace and of `.claude/agents`. Throws `FILE_NOT_FOUND` where one is configured in vain. */
export async function readAgentSources(places: AgentPlaces): Promise<readonly AgentSource[]> {
  const files = await listAgentSources(places);
  const sources = await Promise.all(files.map((file) => readAgentSource(places, file)));
  return sources.filter((source) => source !== undefined);
}

/** Lists the files that agents are read from; the first that names an agent counts. Throws as above. */
export async function listAgentSources(places: AgentPlaces): Promise<readonly string[]> {
  const { appDir, config } = places;
  const missing = missingAgentsFile(places);
  if (missing !== undefined) throw missing;
  const agentsFile = agentsFileOf({ appDir, ...loadOptionsOf(config) });
  const components = (await findWorkspace(appDir)).own.map(({ path }) => path);
  return [
    ...new Set([...(existsSync(agentsFile) ? [agentsFile] : []), ...components, ...(await listAgentFiles(appDir))]),
  ];
}

/** Undefined: it has gone meanwhile, or cannot be read at all. */
export async function readAgentSource(places: AgentPlaces, file: string): Promise<AgentSource | undefined> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const { parts = [], isValid, problems } = await checkWholeText(text, originOfAgents(places, file));
  const agents = parts.filter(({ kind }) => kind === "agent");
  const workflows = parts.filter(({ kind }) => kind === "workflow");
  return { file, text, agents, workflows, isValid, names: listAgentNames({ text, file }), problems };
}

export function originOfAgents({ appDir, config }: AgentPlaces, file: string): TextOrigin {
  const loading = loadOptionsOf(config);
  const around = { appDir, agentsFile: loading.agentsFile, file };
  return { source: file, grant: EVERYTHING, folders: foldersOf(file, appDir), ...loading, around };
}

/** A small file that cannot be read is left out. The agents file is not: that is an error. */
async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readTextFile(file);
  } catch (error) {
    if (isPawlError(error) && (file.endsWith(".md") || !existsSync(file))) return undefined;
    throw error;
  }
}
