import { writeExact } from "../exact-json.ts";
import type { Json } from "../json.ts";
import { MAX_TEXT_CHARS } from "./expr.ts";
import { tooLarge, type Work } from "./work.ts";

/**
 * How a value stands in a text: strings as they are, everything else as JSON with a blank after `:` and `,`. An expression pays for it
 * by `work`; the value of a step needs none, since its size has a limit.
 */
export function toText(value: Json, work?: Work): string {
  return typeof value === "string" ? value : writeJson(value, " ", work);
}

/** One text of many. Throws `EXPRESSION_TOO_COSTLY` where it would be too long. */
export function joinTexts(texts: Iterable<string>, separator: string, work: Work): string {
  let joined: string | undefined;
  for (const text of texts) {
    joined = joined === undefined ? text : joined + separator + text;
    if (joined.length > MAX_TEXT_CHARS) throw tooLarge();
  }
  work.pay((joined?.length ?? 0) >> 5);
  return joined ?? "";
}

/** JSON without recursion: a value may be nested more deeply than the stack. `blank` stands after `:` and `,`. */
export function writeJson(value: Json, blank: "" | " ", work?: Work): string {
  // It takes as much longer than a look does.
  work?.payWalk(value, 3);
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
    if (text.length > MAX_TEXT_CHARS) throw tooLarge();
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
