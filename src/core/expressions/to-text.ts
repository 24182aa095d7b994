import { writeExact } from "../exact-json.ts";
import type { Json } from "../json.ts";
import { MAX_TEXT_CHARS } from "./expr.ts";

/** How a value stands in a text: strings as they are, everything else as JSON with a blank after `:` and `,`. */
export function toText(value: Json): string | undefined {
  return typeof value === "string" ? value : writeJson(value, " ");
}

/** One text of many; undefined where it would be too long. */
export function joinTexts(texts: Iterable<string | undefined>, separator: string): string | undefined {
  let joined: string | undefined;
  for (const text of texts) {
    if (text === undefined) return undefined;
    joined = joined === undefined ? text : joined + separator + text;
    if (joined.length > MAX_TEXT_CHARS) return undefined;
  }
  return joined ?? "";
}

/**
 * JSON without recursion: a value may be nested more deeply than the stack. `blank` stands after `:` and `,`.
 * Undefined where the text would be too long: a value may hold the same part many times.
 */
export function writeJson(value: Json, blank: "" | " "): string | undefined {
  let text = "";
  // The rest to be written, last first: texts as they are, values in a box.
  const pending: (string | { readonly value: Json })[] = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") text += next;
    else if (typeof next.value === "bigint") text += String(next.value);
    else if (next.value === null || typeof next.value !== "object") text += writeExact(next.value);
    else if (Array.isArray(next.value))
      pushParts(
        pending,
        next.value.map((item: Json) => ["", item]),
        "[]",
        blank,
      );
    else {
      const parts = Object.entries(next.value).map(([name, item]): Part => [`${writeExact(name)}:${blank}`, item]);
      pushParts(pending, parts, "{}", blank);
    }
    if (text.length > MAX_TEXT_CHARS) return undefined;
  }
  return text;
}

type Part = readonly [before: string, value: Json];

function pushParts(
  pending: (string | { readonly value: Json })[],
  parts: readonly Part[],
  brackets: "[]" | "{}",
  blank: string,
): void {
  pending.push(brackets.slice(1));
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const [before, value] = parts[index] ?? ["", null];
    pending.push({ value }, index === 0 ? before : `,${blank}${before}`);
  }
  pending.push(brackets.slice(0, 1));
}

/** For RE2: every ASCII character that may mean something there may stand behind a backslash. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** For texts in which a backslash begins an escape sequence. */
export function escapeBackslashes(text: string): string {
  return text.replaceAll("\\", "\\\\");
}
