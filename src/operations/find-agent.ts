import { PawlError } from "../core/errors/pawl-error.ts";
import { didYouMean } from "../dialects/did-you-mean.ts";
import { compileText } from "./compile-text.ts";
import type { FoundDefinition } from "./find-definition.ts";
import { type AgentPlaces, originOfAgents, readAgentSources } from "./read-agent-sources.ts";

/**
 * An agent of the application, ready to be asked alone: of its agents file, else of `.claude/agents`. Throws
 * `AGENT_NOT_FOUND`, and `DEFINITION_INVALID` where a file that may have it cannot be used.
 */
export async function findAgent(places: AgentPlaces, name: string): Promise<FoundDefinition> {
  const sources = await readAgentSources(places);
  const source =
    sources.find(({ agents }) => agents.some((agent) => agent.name === name)) ??
    sources.find(({ isValid, names }) => !isValid && names.includes(name));
  if (source === undefined)
    throw notFound(
      name,
      sources.flatMap(({ agents }) => agents.map((agent) => agent.name)),
    );
  const { file, text } = source;
  const origin = { ...originOfAgents(places, file), select: { agent: name } };
  return { definition: await compileText(text, origin), file };
}

export function notFound(name: string, known: readonly string[]): PawlError {
  const meant = didYouMean(name, known);
  return new PawlError("AGENT_NOT_FOUND", {
    message: `Agent '${name}' not found`,
    ...(meant === undefined ? {} : { remedy: `Did you mean "${meant}"?` }),
  });
}
