import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";

/** Adds what models and tools count (tokens, turns, searches), name by name, also inside nested objects. Texts are left out. */
export function addUsage(sum: JsonObject, usage: JsonObject): JsonObject {
  const added: { [name: string]: Json } = { ...sum };
  for (const [name, value] of Object.entries(usage)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (typeof value === "number") added[name] = (typeof before === "number" ? before : 0) + value;
    else if (isJsonObject(value)) added[name] = addUsage(isJsonObject(before) ? before : {}, value);
  }
  return added;
}
