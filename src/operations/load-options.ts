import type { Config } from "../config/load-config.ts";

/** What the configuration says about whatever a definition leaves open. */
export interface ConfiguredOptions {
  readonly maxSteps: number;
  /** Environment variables that terminal workflows may read. */
  readonly envAllowed: readonly string[];
}

export function loadOptionsOf({ settings }: Pick<Config, "settings">): ConfiguredOptions {
  return { maxSteps: settings.uhlp.max_steps, envAllowed: settings.terminal.env_allow ?? [] };
}
