import { findChromium } from "../../config/find-chromium.ts";
import type { Config } from "../../config/load-config.ts";
import type { Ports } from "../application/ports.ts";

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

/** The places in which an application's definitions go by their names. */
export function registryOf({ appDir, library, config }: Pick<Ports, "appDir" | "library" | "config">) {
  return { appDir, library, ...loadOptionsOf(config) };
}
