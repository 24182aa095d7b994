import type { Json } from "../../core/json.ts";
import { MAX_JSON_DEPTH } from "../../core/parse-json.ts";

/** Parses untrusted text. `undefined`: it is no JSON, or nested so deeply that walking it would not be safe. */
export function parseJson(text: string): Json | undefined {
  const value = tryParse(text);
  return value === undefined || isDeeperThan(MAX_JSON_DEPTH, value) ? undefined : value;
}

function tryParse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isDeeperThan(depth: number, value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((item) => isDeeperThan(depth - 1, item));
}
