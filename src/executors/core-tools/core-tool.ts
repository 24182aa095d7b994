import type { Json, JsonObject } from "../../core/json.ts";
import type { Outcome, Succeeded } from "../../ports/executor.ts";
import type { OfferedTool, ToolCall } from "../../ports/tool-set.ts";

/** A tool with what it does. It may throw a `PawlError`; its arguments have been checked against its schema. */
export interface CoreTool extends OfferedTool {
  run(args: JsonObject, call: ToolCall, signal: AbortSignal): Promise<Outcome>;
}

export function succeeded(output: JsonObject): Succeeded {
  return { status: "succeeded", output, costMicro: 0 };
}

/** A text among arguments that have been checked. */
export function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}

/** A schema of an object with these fields and no others. */
export function objectOf(properties: Readonly<Record<string, JsonObject>>, required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

export function text(description: string): JsonObject {
  return { type: "string", description };
}

export function flag(description: string): JsonObject {
  return { type: "boolean", description };
}

export function count(description: string): JsonObject {
  return { type: "integer", minimum: 0, description };
}

export function anything(description: string): JsonObject {
  return { description };
}

/** Who asks. There is one application here, so files are the same for everybody; values are kept apart. */
export const APP_ID: Readonly<Record<string, JsonObject>> = {
  app_id: { type: "string", description: "The application that asks." },
};

/** The application that a call is for. */
export function appIdOf(args: JsonObject, call: ToolCall): string {
  const named: Json | undefined = args["app_id"];
  return typeof named === "string" ? named : (call.appId ?? "");
}
