import { PawlError } from "../core/errors/pawl-error.ts";
import type { Application } from "./application.ts";
import type { FoundDefinition } from "./find-definition.ts";
import { loadOptionsOf } from "./load-options.ts";
import { findRegistered } from "./registry.ts";

/**
 * A workflow of an agents file. Throws `WORKFLOW_NOT_FOUND`, which names the route of workflows of other dialects, and
 * `DEFINITION_INVALID`.
 */
export async function findAgentsWorkflow(
  { appDir, config, library }: Pick<Application, "appDir" | "config" | "library">,
  name: string,
): Promise<FoundDefinition> {
  const registered = await findRegistered({ appDir, library, ...loadOptionsOf(config) }, name);
  if (registered === undefined) throw notFound(name, "`pawl agents ls` lists what there is.");
  const { file, report } = registered;
  if (report.definition === undefined) {
    const why = report.problems.find(({ severity }) => severity === "error")?.message ?? "it has problems";
    throw new PawlError("DEFINITION_INVALID", { message: `Workflow '${name}' cannot be used: ${why}` });
  }
  const { dialect } = report.definition.graph;
  if (dialect === "agents") return { definition: report.definition, file };
  throw notFound(name, `"${name}" is a ${dialect} workflow: ask for it with POST /workflows/run/sync.`);
}

function notFound(name: string, remedy: string): PawlError {
  return new PawlError("WORKFLOW_NOT_FOUND", { message: `Workflow '${name}' not found`, remedy });
}
