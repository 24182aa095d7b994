import { parseExact } from "./exact-json.ts";
import type { Json } from "./json.ts";
import { isJsonDeeperThan } from "./json-depth.ts";

/** How many brackets of JSON text may lie in each other. What walks a value later, `JSON.stringify` first of all, recurses. */
export const MAX_JSON_DEPTH = 500;

/** Untrusted text. Undefined where it is no JSON, or nested more deeply than `MAX_JSON_DEPTH`: such a value is never made. */
export function parseJson(text: string): Json | undefined {
  if (isJsonDeeperThan(text, MAX_JSON_DEPTH)) return undefined;
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
