import type { Application } from "../application/application.ts";
import { readAgentSources } from "./read-agent-sources.ts";
import { toOrigin } from "./show-agent.ts";

export interface AgentSummary {
  readonly name: string;
  readonly description: string | null;
  readonly model: string | null;
  /** Ids of servers; null: all. */
  readonly clients: readonly string[] | null;
  readonly origin: string;
}

export interface AgentOverview {
  readonly agents: readonly AgentSummary[];
  /** Files that cannot be used, absolute. */
  readonly broken: readonly string[];
}

/** The application's agents: of the agents file, then of `.claude/agents`. Of two of the same name the first counts. */
export async function describeAgents(app: Pick<Application, "appDir" | "config">): Promise<AgentOverview> {
  const sources = await readAgentSources(app);
  const seen = new Set<string>();
  const agents = sources
    .flatMap((source) => source.agents)
    .filter(({ name }) => !seen.has(name) && seen.add(name))
    .map(({ name, description, place, settings = [] }): AgentSummary => {
      const settingOf = (setting: string) => settings.find((each) => each.name === setting)?.value;
      const model = settingOf("model");
      const clients = settingOf("clients");
      return {
        name,
        description: description ?? null,
        model: typeof model === "string" ? model : null,
        clients: Array.isArray(clients) ? clients.map(String) : null,
        origin: toOrigin(place, app.appDir),
      };
    });
  return { agents, broken: sources.filter(({ isValid }) => !isValid).map(({ file }) => file) };
}
