import type { InputContract } from "../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { MapReader } from "../map-reader.ts";
import type { ParseContext } from "./parse-context.ts";

/** `input_schema`: a JSON Schema of the input in which a property with a default is never required. */
export function parseInputSchema(top: MapReader, context: ParseContext): InputContract {
  const written = top.object("input_schema");
  if (written === undefined) return { declared: [], defaults: {} };
  const { value } = written;
  const properties = Object.entries(isJsonObject(value["properties"]) ? value["properties"] : {});
  const optional = new Set(properties.filter(([, property]) => hasDefault(property)).map(([name]) => name));
  const required = Array.isArray(value["required"]) ? value["required"] : [];
  context.schemas.push({ key: "input_schema", at: written.at, schema: value });
  return {
    schema: toSchema(
      value,
      required.filter((name) => !optional.has(name)),
    ),
    declared: [
      ...new Set([...properties.map(([name]) => name), ...required.filter((name) => typeof name === "string")]),
    ],
    defaults: Object.fromEntries(properties.flatMap(([name, property]) => toDefault(name, property))),
  };
}

function hasDefault(property: Json): property is JsonObject {
  return isJsonObject(property) && Object.hasOwn(property, "default");
}

/** `default: null` says that the value may be left out, not that it is null. */
function toDefault(name: string, property: Json): readonly [string, Json][] {
  const value = hasDefault(property) ? property["default"] : undefined;
  return value === undefined || value === null ? [] : [[name, value]];
}

function toSchema(written: JsonObject, required: readonly Json[]): JsonObject {
  const { required: _, ...rest } = written;
  return { type: "object", ...rest, ...(required.length === 0 ? {} : { required }) };
}
