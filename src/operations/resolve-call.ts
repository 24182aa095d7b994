import { dirname } from "node:path";
import { PawlError } from "../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { CompiledDefinition } from "../hosts/compiled-definition.ts";
import type { Application } from "./application.ts";
import { checkInput } from "./check-input.ts";
import { compileText } from "./compile-text.ts";
import { findDefinition } from "./find-definition.ts";

interface Call {
  readonly workflow: Json;
  readonly input: Json;
  /** Those of the calling run. */
  readonly options: JsonObject;
}

/**
 * The workflow that a step calls: a whole definition, a file beside the caller's or in the application, or a registered
 * name. Throws what a start of it would throw.
 */
export async function resolveCall(
  app: Pick<Application, "appDir">,
  { workflow, input, options }: Call,
): Promise<{ readonly definition: CompiledDefinition; readonly input: JsonObject }> {
  const definition = await findCalled(app, workflow, options);
  if (!isJsonObject(input)) throw new PawlError("INPUT_INVALID", { message: "The input of a workflow is an object." });
  return { definition, input: await checkInput(input, definition.graph.input) };
}

async function findCalled(
  app: Pick<Application, "appDir">,
  workflow: Json,
  { source, app_dir: kept }: JsonObject,
): Promise<CompiledDefinition> {
  if (isJsonObject(workflow)) return compileText(JSON.stringify(workflow), undefined);
  if (typeof workflow !== "string") {
    throw new PawlError("WORKFLOW_NOT_FOUND", { message: `${JSON.stringify(workflow)} names no workflow.` });
  }
  if (workflow.includes("\n")) return compileText(workflow, undefined);
  const appDir = typeof kept === "string" ? kept : app.appDir;
  const folders = typeof source === "string" ? [dirname(source), appDir] : [appDir];
  return (await findDefinition(workflow, { folders, appDir })).definition;
}
