import { basename } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { traitsOf } from "../../core/graph/dialects.ts";
import type { ShownProblem } from "../../hosts/compiled-definition.ts";
import type { Ports } from "../application/ports.ts";
import type { DefinitionReport } from "../definitions/compile/report-on-text.ts";
import { agentsFileOf, stemOf } from "../definitions/definition-files.ts";
import type { ReferredDefinition } from "../definitions/find-definition.ts";
import { findNamed } from "../definitions/find-named.ts";
import { registryOf } from "../definitions/load-options.ts";
import { listRegistered, type RegistryPlaces } from "../definitions/registry.ts";
import { findSaved, reportOnSaved } from "../definitions/saved-definitions.ts";
import { missingAgentsFile } from "./missing-agents-file.ts";

type Places = Pick<Ports, "appDir" | "config" | "library">;
type NamedApplication = Places & Pick<Ports, "service" | "tenantId" | "compiledTexts">;

export type AgentsWorkflowKind = "linear" | "graph";

/**
 * A workflow of agents, in a file or saved through the service. Throws `WORKFLOW_NOT_FOUND`, which names the route of
 * workflows of other dialects or of another kind, `NAME_TAKEN_TWICE`, `DEFINITION_INVALID` where a file that may have it
 * cannot be used, and `FILE_NOT_FOUND` where the configured agents file is missing.
 */
export async function findAgentsWorkflow(
  app: NamedApplication,
  name: string,
  kind?: AgentsWorkflowKind,
): Promise<ReferredDefinition> {
  const places: RegistryPlaces = registryOf(app);
  const named = await findNamed({ ...places, findSaved: (each) => findSaved(app, each) }, name);
  if (named === undefined) throw await explainAbsence(app, places, name);
  const report: DefinitionReport =
    named.in === "file" ? named.registered.report : await reportOnSaved(app, named.stored);
  if (report.definition === undefined) {
    const message = `Workflow '${name}' cannot be used: ${whyBroken(report.problems)}`;
    throw new PawlError("DEFINITION_INVALID", { message });
  }
  const { graph } = report.definition;
  const { dialect, settings } = graph;
  if (traitsOf(graph).input !== "message")
    throw notFound(name, `"${name}" is a ${dialect} workflow: ask for it with POST /workflows/run/sync.`);
  const own: AgentsWorkflowKind = settings["workflow_kind"] === "graph" ? "graph" : "linear";
  if (kind === undefined || kind === own)
    return { definition: report.definition, ...(named.in === "file" ? { file: named.registered.file } : {}) };
  const route = `POST /execution/workflows/${own}/${encodeURIComponent(name.toWellFormed())}/run`;
  throw notFound(name, `"${name}" is a ${own} workflow: ask for it with ${route}.`);
}

/** There may be such a workflow in a file that is missing, or that nobody can read. */
async function explainAbsence(app: Places, places: RegistryPlaces, name: string): Promise<PawlError> {
  const missing = missingAgentsFile(app);
  if (missing !== undefined) return missing;
  const agentsFile = agentsFileOf(places);
  const broken = (await listRegistered(places)).find(
    ({ name: stem, file, report }) => file === agentsFile && stem === stemOf(file) && report.definition === undefined,
  );
  if (broken === undefined) return notFound(name, "`pawl agents ls` lists what there is.");
  const message = `${basename(agentsFile)} cannot be used: ${whyBroken(broken.report.problems)}`;
  return new PawlError("DEFINITION_INVALID", { message });
}

function whyBroken(problems: readonly ShownProblem[]): string {
  const first = problems.find(({ severity }) => severity === "error");
  if (first === undefined) return "it has problems";
  const { line, column } = first.place ?? {};
  return line === undefined ? first.message : `${first.message} (line ${line}, column ${column})`;
}

function notFound(name: string, remedy: string): PawlError {
  return new PawlError("WORKFLOW_NOT_FOUND", { message: `Workflow '${name}' not found`, remedy });
}
