import { existsSync } from "node:fs";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Place } from "../application/ports.ts";
import { agentsFileOf } from "../definitions/definition-files.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";

/** The error if the configuration names an agents file that is not there. An application needs none of its own. */
export function missingAgentsFile({ appDir, config }: Pick<Place, "appDir" | "config">): PawlError | undefined {
  const origin = config.origins.get("agents.config_path");
  const file = agentsFileOf({ appDir, ...loadOptionsOf(config) });
  if (origin === undefined || existsSync(file)) return undefined;
  return new PawlError("FILE_NOT_FOUND", {
    message: `There is no agents file ${file}.`,
    remedy: `It is named by \`agents.config_path\` (${origin}): correct the path, or take it out.`,
  });
}
