import { dirname } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { refuseUngranted } from "../../core/trust/check-grant.ts";
import { allows, meet } from "../../core/trust/grant.ts";
import { withMaxStates } from "../../dialects/terminal/lower.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import type { ResolveCall } from "../../hosts/session/steps/step-parts.ts";
import type { Ports } from "../application/ports.ts";
import { compileText } from "../definitions/compile-text.ts";
import { foldersOf } from "../definitions/definition-files.ts";
import { type DefinitionPlaces, findDefinition } from "../definitions/find-definition.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { isProgramFile } from "../definitions/looks-like-file.ts";
import { findSaved } from "../definitions/saved-definitions.ts";
import { fromMessage, isMessage } from "./input/read-message.ts";
import { toRunInput } from "./input/to-run-input.ts";
import { callersGrant } from "./run-grants.ts";

type Call = Omit<Parameters<ResolveCall>[0], "isComputed"> & { readonly isComputed?: boolean };

export type CallingApplication = Pick<Ports, "appDir" | "config" | "library" | "service">;

/**
 * The workflow that a step calls: a whole definition, a file beside the caller's or in the application, or a registered
 * name. Throws what a start of it would throw.
 */
export async function resolveCall(
  app: CallingApplication,
  { workflow, input, terms, isComputed = false, ...run }: Call,
): ReturnType<ResolveCall> {
  if (!isJsonObject(input)) throw new PawlError("INPUT_INVALID", { message: "The input of a workflow is an object." });
  if (terms === undefined) {
    const definition = await findCalled(app, workflow, { ...run, isComputed, onlyNames: false });
    return { definition, input: await toRunInput(input, definition.graph) };
  }
  if (isMessage(terms)) {
    const definition = await findCalled(app, workflow, { ...run, isComputed, onlyNames: false });
    return { definition, input: await toRunInput(fromMessage(input, definition.graph), definition.graph) };
  }
  const { readWorkflowLimits } = await import("./workflow-limits.ts");
  const { maxStates, executionTimeoutSeconds } = readWorkflowLimits(terms);
  // A name may come from a screen: it is never a path.
  const { graph, ...found } = await findCalled(app, workflow, { ...run, isComputed, onlyNames: true });
  const definition = { ...found, graph: withMaxStates(graph, maxStates) };
  return { definition, input: await toRunInput(input, graph), timeoutMs: Math.round(executionTimeoutSeconds * 1_000) };
}

/** The definition alone, whatever the input. Throws what a start of it would throw. */
export async function findCalled(
  app: CallingApplication,
  workflow: Json,
  {
    options,
    grant,
    tenantId,
    isComputed = false,
    onlyNames,
  }: Pick<Call, "options" | "grant" | "tenantId" | "isComputed"> & { readonly onlyNames: boolean },
): Promise<CompiledDefinition> {
  const { source, app_dir: kept } = options;
  const appDir = typeof kept === "string" ? kept : app.appDir;
  const loading = loadOptionsOf(app.config);
  const file = typeof source === "string" ? source : undefined;
  // A text that a client has sent must not choose files of this machine, neither directly nor through a call.
  const isSent = (file === undefined && options["is_program"] !== true) || !allows(grant, "folders");
  const origin = {
    // A text that values have made is of whoever's values they are.
    grant: isComputed ? meet(grant, callersGrant(options, app.config)) : grant,
    folders: isSent ? [] : foldersOf(file, appDir),
    ...loading,
    around: { appDir, agentsFile: loading.agentsFile, file },
  };
  if (isJsonObject(workflow)) return compileText(writeExact(workflow), origin);
  if (typeof workflow !== "string")
    throw new PawlError("WORKFLOW_NOT_FOUND", { message: `${writeExact(workflow)} names no workflow.` });
  if (workflow.includes("\n") && !onlyNames) return compileText(workflow, origin);
  refuseUngranted(grant, "workflows", workflow);
  const folders = isSent ? [] : [...(file === undefined ? [] : [dirname(file)]), appDir];
  const places: DefinitionPlaces = { folders, appDir, ...loading, onlyNames: onlyNames || isSent, isComputed };
  if (file !== undefined && !isSent && isProgramFile(file)) {
    const { readProgram, compileProgram } = await import("../definitions/program-file.ts");
    const beside = (await readProgram(file)).find(({ name }) => name === workflow);
    if (beside !== undefined) return compileProgram(beside, file);
  }
  if (appDir !== app.appDir) return (await findDefinition(workflow, places)).definition;
  // The library is that of this application; a run of another one has its own registry.
  // That of a program which does not serve has its own workflows alone: others are in files.
  const library = app.library?.list().some(({ name }) => name === workflow) === true ? app.library : undefined;
  const named = (name: string) => findSaved({ service: () => app.service(), tenantId }, name);
  return (await findDefinition(workflow, { ...places, library, findSaved: named })).definition;
}
