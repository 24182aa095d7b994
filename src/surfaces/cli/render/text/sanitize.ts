import { stripVTControlCharacters } from "node:util";
import { decodeSegment } from "../../../../core/graph/path-pattern.ts";

/**
 * Text from outside (ids, messages, prompts) as one harmless line: escape sequences are gone, line breaks are blanks, and
 * what else would move the cursor or turn the reading direction shows as a replacement character.
 */
export function sanitize(text: string): string {
  return sanitizeLine(text).replace(/\s+/gu, " ").trim();
}

/** The same with its blanks as they are. */
export function sanitizeLine(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\t\n\v\f\r]+/gu, " ")
    .replace(/\p{Cc}|\p{Cs}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** A step's address as a person reads it: with the names as they were written. Addresses to give back stay escaped. */
export function showPath(path: string): string {
  return sanitize(path.replace(/(?:%[\dA-F]{2})+/g, (escaped) => decodeSegment(escaped) ?? escaped));
}
