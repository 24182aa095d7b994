import { RE2JS, RE2JSException } from "re2js";
import { MAX_PATTERN_CHARS, MAX_PATTERN_SIZE } from "../core/expressions/expr.ts";

/** Why a regular expression cannot be used; undefined where it can. Its time is linear, so that no text makes it hang. */
export function checkRegex(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARS) return `it is longer than ${MAX_PATTERN_CHARS} characters`;
  try {
    const isLarge = RE2JS.compile(pattern).programSize() > MAX_PATTERN_SIZE;
    return isLarge ? "its repetitions are too many" : undefined;
  } catch (error) {
    return error instanceof RE2JSException ? error.message.replace("error parsing regexp: ", "") : "it cannot be read";
  }
}
