import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DefinitionPart } from "../dialects/definition.ts";
import { listAgentNames } from "../dialects/list-names.ts";
import { readAgentFiles } from "./agent-files.ts";
import { surroundingsOf } from "./agent-surroundings.ts";
import type { Application } from "./application.ts";
import { foldersOf } from "./application-folders.ts";
import { checkWholeText, type TextOrigin } from "./compile-text.ts";
import { agentsFileOf } from "./definition-files.ts";
import { loadOptionsOf } from "./load-options.ts";
import { missingAgentsFile } from "./missing-agents-file.ts";
import { readTextFile } from "./read-text-file.ts";
import type { ShownProblem } from "./shown-problem.ts";

export type AgentPlaces = Pick<Application, "appDir" | "config">;

/** A file that agents are read from. */
export interface AgentSource {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  /** Empty where it cannot be used. */
  readonly agents: readonly DefinitionPart[];
  readonly workflows: readonly DefinitionPart[];
  readonly isValid: boolean;
  /** Of its agents, also where it cannot be used. */
  readonly names: readonly string[];
  readonly problems: readonly ShownProblem[];
}

/** The agents file, where there is one, before those of `.claude/agents`. Throws `FILE_NOT_FOUND` where one is configured in vain. */
export async function readAgentSources(places: AgentPlaces): Promise<readonly AgentSource[]> {
  const { appDir, config } = places;
  const missing = missingAgentsFile(places);
  if (missing !== undefined) throw missing;
  const agentsFile = agentsFileOf({ appDir, ...loadOptionsOf(config) });
  const own = existsSync(agentsFile) ? [{ file: agentsFile, text: await readTextFile(agentsFile) }] : [];
  const others = (await readAgentFiles(appDir)).map(({ text, file = "" }) => ({ file: join(appDir, file), text }));
  return Promise.all(
    [...own, ...others].map(async ({ file, text }): Promise<AgentSource> => {
      const { parts = [], isValid, problems } = await checkWholeText(text, originOfAgents(places, file));
      const agents = parts.filter(({ kind }) => kind === "agent");
      const workflows = parts.filter(({ kind }) => kind === "workflow");
      return { file, text, agents, workflows, isValid, names: listAgentNames({ text, file }), problems };
    }),
  );
}

export function originOfAgents({ appDir, config }: AgentPlaces, file: string): TextOrigin {
  const loading = loadOptionsOf(config);
  const around = surroundingsOf({ appDir, ...loading }, file);
  return { source: file, folders: foldersOf(file, appDir), ...loading, around };
}
