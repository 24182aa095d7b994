import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { isMisspelt } from "./did-you-mean.ts";

type Path = readonly (string | number)[];

/** Keywords that may bring fields which `properties` does not list. */
const MORE = ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if", "then", "else", "$dynamicRef"];

/** The fields that a schema declares for a value. Undefined: nothing is declared. Empty: it is no map. */
export function fieldsOf(schema: Json | undefined): ReadonlySet<string> | undefined {
  if (!isJsonObject(schema) || MORE.some((key) => schema[key] !== undefined)) return undefined;
  const { properties, type } = schema;
  if (isJsonObject(properties)) return new Set(Object.keys(properties));
  return typeof type === "string" && type !== "object" ? new Set() : undefined;
}

export function partOf(schema: Json | undefined, path: Path): JsonObject | undefined {
  let part = schema;
  for (const key of path) {
    if (!isJsonObject(part)) return undefined;
    const { properties, items } = part;
    part = typeof key === "number" ? items : isJsonObject(properties) ? properties[key] : undefined;
  }
  return isJsonObject(part) ? part : undefined;
}

/** Nothing but what it declares can be there. */
export function isClosed(schema: JsonObject | undefined): boolean {
  return schema?.["additionalProperties"] === false;
}

/**
 * The place of the first name of a path that a schema rules out, or that is most likely a misspelling of one that it declares. A value may
 * hold more than its schema declares, so that other names are none.
 */
export function findUndeclared(
  path: Path,
  schema: JsonObject | undefined,
): { readonly at: number; readonly known: ReadonlySet<string> } | undefined {
  for (const [at, key] of path.entries()) {
    const part = partOf(schema, path.slice(0, at));
    const known = fieldsOf(part);
    if (typeof key !== "string" || known === undefined || known.has(key)) continue;
    if (isClosed(part) || isMisspelt(key, known)) return { at, known };
  }
  return undefined;
}
