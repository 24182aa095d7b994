import type { Json, JsonObject } from "./json.ts";

/** Whether lists and objects nest deeper than so many levels, of a value that a library has parsed. */
export function isDeeperThan(value: Json, levels: number): boolean {
  let layer = [value].filter(isNesting);
  for (let depth = 0; depth < levels && layer.length > 0; depth += 1)
    layer = layer.flatMap((each) => Object.values<Json>(each).filter(isNesting));
  return layer.length > 0;
}

function isNesting(value: Json): value is JsonObject | readonly Json[] {
  return value !== null && typeof value === "object";
}

/**
 * Whether brackets nest deeper than so many levels, before the text is parsed: what comes after a parser (writing, comparing,
 * evaluating) recurses. Brackets inside of strings do not count. A text that is no JSON gets some answer.
 */
export function isJsonDeeperThan(text: string, levels: number): boolean {
  // Every bracket is closed again.
  if (text.length <= 2 * levels) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > levels) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
