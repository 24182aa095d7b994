import { isJsonObject, type JsonObject } from "../../core/json.ts";

/** Some servers list arguments as required that they fill in themselves: one with a default need not be given. */
export function withoutDefaulted(schema: JsonObject): JsonObject {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isJsonObject(properties)) return schema;
  const needed = required.filter((name) => {
    const property = typeof name === "string" ? properties[name] : undefined;
    return !(isJsonObject(property) && "default" in property);
  });
  return { ...schema, required: needed };
}
