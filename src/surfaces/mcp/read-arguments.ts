import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { isDeeperThan } from "../../core/json-depth.ts";
import { parseJson } from "../../core/parse-json.ts";
import { MAX_REQUEST_DEPTH } from "../../operations/requests/parse-json.ts";

/**
 * Reads the arguments of a tool, flat or, as the Python server took it, wrapped into `{"request": {...}}`. Models write objects
 * as texts now and then; what reads as one is one. Throws `REQUEST_INVALID` where it nests too deeply.
 */
export function readArguments(given: Json | undefined): JsonObject {
  const args = toObject(given) ?? {};
  const names = Object.keys(args);
  const wrapped = names.length === 1 && names[0] === "request" ? toObject(args["request"]) : undefined;
  const flat = wrapped ?? args;
  const definition = toObject(flat["workflow_definition"]);
  const read = definition === undefined ? flat : { ...flat, workflow_definition: definition };
  if (!isDeeperThan(read, MAX_REQUEST_DEPTH)) return read;
  throw new PawlError("REQUEST_INVALID", {
    message: `The arguments nest more than ${MAX_REQUEST_DEPTH} levels deep.`,
  });
}

function toObject(value: Json | undefined): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return undefined;
  const read = parseJson(value);
  return isJsonObject(read) ? read : undefined;
}
