import type { Config } from "../config/load-config.ts";

/** What the configuration says about whatever a definition leaves open, and about where definitions live. */
export interface ConfiguredOptions {
  readonly maxSteps: number;
  /** Environment variables that terminal workflows may read. */
  readonly envAllowed: readonly string[];
  /** Relative to the application. Absent: `agents.json`, where there is one. */
  readonly agentsFile?: string;
}

export function loadOptionsOf({ settings }: Pick<Config, "settings">): ConfiguredOptions {
  const { config_path: agentsFile } = settings.agents;
  return {
    maxSteps: settings.uhlp.max_steps,
    envAllowed: settings.terminal.env_allow ?? [],
    ...(agentsFile === undefined ? {} : { agentsFile }),
  };
}
