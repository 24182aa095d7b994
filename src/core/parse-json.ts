import { parseExact } from "./exact-json.ts";
import type { Json } from "./json.ts";
import { isJsonDeeperThan } from "./json-depth.ts";
import { NumberTooLarge } from "./long-integers.ts";

/** How many brackets of JSON text may lie in each other. What walks a value later, `JSON.stringify` first of all, recurses. */
export const MAX_JSON_DEPTH = 500;

/** `flaw` is the end of a sentence that begins with what the text is. `isJson`: it is JSON, and has a number that cannot be kept. */
export type ReadJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly flaw: string; readonly isJson: boolean };

/** Reads untrusted text. A value that is nested more deeply than `maxDepth` is never made. */
export function readJson(text: string, maxDepth = MAX_JSON_DEPTH): ReadJson {
  if (isJsonDeeperThan(text, maxDepth))
    return { ok: false, flaw: `nests more than ${maxDepth} levels deep`, isJson: false };
  try {
    return { ok: true, value: parseExact(text) };
  } catch (error) {
    const isJson = error instanceof NumberTooLarge;
    return { ok: false, flaw: isJson ? `cannot be kept: ${error.message}` : "is not valid JSON", isJson };
  }
}

/** Untrusted text. Undefined where it is no JSON that can be kept. */
export function parseJson(text: string): Json | undefined {
  const read = readJson(text);
  return read.ok ? read.value : undefined;
}
