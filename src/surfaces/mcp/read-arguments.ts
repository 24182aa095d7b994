import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/**
 * What a tool is asked for, flat or, as the Python server took it, wrapped into `{"request": {...}}`. Models write objects
 * as texts now and then; what reads as one is one.
 */
export function readArguments(given: Json | undefined): JsonObject {
  const args = toObject(given) ?? {};
  const names = Object.keys(args);
  const wrapped = names.length === 1 && names[0] === "request" ? toObject(args["request"]) : undefined;
  const flat = wrapped ?? args;
  const definition = toObject(flat["workflow_definition"]);
  return definition === undefined ? flat : { ...flat, workflow_definition: definition };
}

function toObject(value: Json | undefined): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return undefined;
  try {
    const read = JSON.parse(value) as Json;
    return isJsonObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}
