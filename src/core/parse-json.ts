import { parseExact } from "./exact-json.ts";
import type { Json } from "./json.ts";
import { isJsonDeeperThan } from "./json-depth.ts";
import { NumberTooLarge } from "./long-integers.ts";
import { SizedCache } from "./sized-cache.ts";

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

/** Shorter texts are parsed faster than they are found. */
const MIN_CHARS = 1_024;
const MAX_CHARS = 8 * 1024 * 1024;

/**
 * Like `parseJson`, with a cache. A loop over the orders in a request's body reads the same text once for every order: without it, a
 * body twice as long would take four times as long.
 */
export function parserOnce(): (text: string) => Json | undefined {
  const parsed = new SizedCache<string, { readonly value: Json | undefined }>(MAX_CHARS);
  return (text) => {
    if (text.length < MIN_CHARS) return parseJson(text);
    const known = parsed.get(text) ?? { value: parseJson(text) };
    parsed.set(text, known, text.length);
    return known.value;
  };
}
