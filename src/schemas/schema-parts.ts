import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { orElse } from "../core/or-else.ts";

export interface SchemaPart {
  /** Keys and indices that lead to it. */
  readonly path: readonly string[];
  readonly schema: JsonObject;
  /** `same`: it is asked of the value itself. `inner`: of parts of it. `kept`: only where something refers to it. */
  readonly applies: Applies;
}

type Applies = "same" | "inner" | "kept";

const IN_MAPS = new Map<string, Applies>([
  ["properties", "inner"],
  ["patternProperties", "inner"],
  ["dependentSchemas", "same"],
  ["dependencies", "same"],
  ["definitions", "kept"],
  ["$defs", "kept"],
]);

const IN_PLACE = new Map<string, Applies>([
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"].map((key) => [key, "same"] as const),
  ...["prefixItems", "items", "additionalItems", "unevaluatedItems", "contains"].map((key) => [key, "inner"] as const),
  ...["additionalProperties", "unevaluatedProperties", "propertyNames"].map((key) => [key, "inner"] as const),
]);

/** The schemas directly inside of a schema, of both drafts. */
export function partsOf(schema: JsonObject): readonly SchemaPart[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    const inMap = IN_MAPS.get(key);
    if (inMap !== undefined) return isJsonObject(value) ? listParts(Object.entries(value), [key], inMap) : [];
    const applies = IN_PLACE.get(key);
    if (applies === undefined) return [];
    if (Array.isArray(value)) return listParts(Object.entries<Json>(value), [key], applies);
    return isJsonObject(value) ? [{ path: [key], schema: value, applies }] : [];
  });
}

function listParts(
  entries: readonly (readonly [string, Json])[],
  path: readonly string[],
  applies: Applies,
): readonly SchemaPart[] {
  return entries.flatMap(([key, schema]) => (isJsonObject(schema) ? [{ path: [...path, key], schema, applies }] : []));
}

/** The schema that a reference of the form `#/a/b` names. Undefined for other forms, and where there is none. */
export function findReferred(root: JsonObject, reference: Json | undefined): JsonObject | undefined {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  let found: Json | undefined = root;
  for (const part of reference.split("/").slice(1)) {
    if (found === null || typeof found !== "object") return undefined;
    const name = orElse(() => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"), part);
    found = Object.hasOwn(found, name) ? (found as JsonObject)[name] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
}
