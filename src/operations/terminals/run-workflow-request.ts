import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { SOURCE_MISSING, SOURCE_TWICE } from "../../dialects/terminal/messages.ts";
import { readNumber, readWorkflowLimits, type WorkflowLimits } from "../start/workflow-limits.ts";

/** What `run_workflow` is asked to do. */
export interface RunWorkflowRequest extends WorkflowLimits {
  readonly source: { readonly definition: JsonObject } | { readonly name: string };
  readonly initialVariables: JsonObject;
  readonly saveOnSuccess: boolean;
  /** False: its terminal sessions are closed though it has succeeded. */
  readonly keepSessions: boolean;
  /** How long to wait for its end; undefined: until it has come. */
  readonly waitSeconds: number | undefined;
}

/** Reads a request as it came: what it does not know is ignored. Throws `REQUEST_INVALID`. */
export function readRunWorkflowRequest(given: Json): RunWorkflowRequest {
  if (!isJsonObject(given)) throw invalid("The request must be a map.");
  try {
    return {
      source: readSource(given),
      initialVariables: readVariables(given["initial_variables"]),
      ...readWorkflowLimits(given),
      saveOnSuccess: readFlag("save_on_success", given["save_on_success"]) ?? true,
      keepSessions: readFlag("keep_sessions", given["keep_sessions"]) ?? true,
      waitSeconds: readNumber("wait_seconds", given["wait_seconds"], { from: 0, to: 7_200, whole: false }),
    };
  } catch (error) {
    if (error instanceof PawlError && error.code === "INPUT_INVALID") throw invalid(error.message);
    throw error;
  }
}

function readSource({ workflow_definition: definition = null, workflow_name: name = null }: JsonObject) {
  if (definition === null && name === null) throw invalid(SOURCE_MISSING);
  if (definition !== null && name !== null) throw invalid(SOURCE_TWICE);
  if (isJsonObject(definition)) return { definition };
  if (definition !== null) throw invalid("`workflow_definition` must be a map.");
  if (typeof name === "string") return { name };
  throw invalid("`workflow_name` must be a text.");
}

function readVariables(given: Json | undefined): JsonObject {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) throw invalid("`initial_variables` must be a map.");
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string") throw invalid(`\`initial_variables.${name}\` must be a text.`);
  }
  return given;
}

function readFlag(name: string, given: Json | undefined): boolean | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === "boolean") return given;
  throw invalid(`\`${name}\` must be true or false.`);
}

function invalid(message: string): PawlError {
  return new PawlError("REQUEST_INVALID", { message, remedy: "Correct the request." });
}
