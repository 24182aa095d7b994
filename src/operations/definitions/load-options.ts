import { findChromium } from "../../config/find-chromium.ts";
import type { Config } from "../../config/load-config.ts";
import type { DefinitionLibrary } from "./definition-library.ts";

/** The configured defaults of definitions, and their places. */
export interface ConfiguredOptions {
  readonly maxSteps: number;
  /** Environment variables that terminal workflows may read. */
  readonly envAllowed: readonly string[];
  /** Likely misspellings are warnings. */
  readonly isLenient: boolean;
  /** Whether reports can be printed as PDF. */
  hasChromium(): boolean;
  /** Relative to the application. Absent: `agents.json`, where there is one. */
  readonly agentsFile?: string;
}

export function loadOptionsOf({ settings, env }: Pick<Config, "settings" | "env">): ConfiguredOptions {
  const { config_path: agentsFile } = settings.agents;
  return {
    maxSteps: settings.uhlp.max_steps,
    hasChromium: () => findChromium({ settings, env }) !== undefined,
    envAllowed: settings.terminal.env_allow ?? [],
    isLenient: settings.definitions.lenient,
    agentsFile,
  };
}

interface Registered {
  readonly appDir: string;
  readonly config: Config;
  readonly library?: Pick<DefinitionLibrary, "list"> | undefined;
}

/** The places in which an application's definitions go by their names. */
export function registryOf({ appDir, library, config }: Registered) {
  return { appDir, library, ...loadOptionsOf(config) };
}
