import type { JsonObject } from "../../core/json.ts";

/** Null, or what the schema says. A list of types would say the same, but some clients take only one type in one place. */
export function nullable({ description, default: usual, ...schema }: JsonObject): JsonObject {
  return {
    anyOf: [schema, { type: "null" }],
    ...(description === undefined ? {} : { description }),
    ...(usual === undefined ? {} : { default: usual }),
  };
}
