import type { Json } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import { SizedCache } from "../../../core/sized-cache.ts";

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
