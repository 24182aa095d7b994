import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";

/*
 * Keywords that only the loader knows: `sameAs`, the key that a property is another spelling of, and `allowed`, what a
 * pattern means, for people.
 */

/** Another spelling of `key`, which wins where both stand side by side. */
export function sameAs(key: string, schema: JsonObject): JsonObject {
  return { ...schema, description: `The same as \`${key}\`.`, sameAs: key };
}

/** For others, whose validators may refuse what they do not know. */
export function withoutOwnKeywords(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key, value]) => !(OWN.has(key) && typeof value === "string"));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutThem(value)]));
}

const OWN = new Set(["sameAs", "allowed"]);

function withoutThem(part: Json): Json {
  if (Array.isArray(part)) return part.map(withoutThem);
  return isJsonObject(part) ? withoutOwnKeywords(part) : part;
}
