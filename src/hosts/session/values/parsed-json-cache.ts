import type { Json } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";

/** Shorter texts are parsed faster than they are found. */
const MIN_CHARS = 1_024;
const MAX_CHARS = 8 * 1024 * 1024;

/**
 * A cache of parsed JSON texts. A loop over the orders in a request's body reads the same text once for every order: without
 * the cache, a body twice as long would take four times as long.
 */
export class ParsedJsonCache {
  readonly #parsed = new Map<string, Json | undefined>();
  #chars = 0;

  /** Like `parseJson`. */
  parse(text: string): Json | undefined {
    if (text.length < MIN_CHARS) return parseJson(text);
    const isKnown = this.#parsed.has(text);
    const value = isKnown ? this.#parsed.get(text) : parseJson(text);
    // The order of insertion is the order of use.
    if (isKnown) this.#parsed.delete(text);
    else this.#chars += text.length;
    this.#parsed.set(text, value);
    this.#dropOldest();
    return value;
  }

  /** The last one stays, however long it is. */
  #dropOldest(): void {
    for (const oldest of this.#parsed.keys()) {
      if (this.#chars <= MAX_CHARS || this.#parsed.size === 1) return;
      this.#parsed.delete(oldest);
      this.#chars -= oldest.length;
    }
  }
}
