import { type ExpressionFault, toFault } from "./expression-fault.ts";
import type { LiteralToken } from "./token.ts";

/**
 * Reads a text in quotes from `start`. `\\`, `\'`, `\"`, `\n`, `\r`, `\t` and `\uXXXX` are escapes; a backslash before
 * anything else stays, so that a regular expression such as `'\d+\.'` needs no second one.
 */
export function readString(text: string, start: number): LiteralToken | ExpressionFault {
  const quote = text[start];
  let value = "";
  let at = start + 1;
  while (at < text.length && text[at] !== quote) {
    const [written, meant] = readChar(text, at);
    value += meant;
    at += written;
  }
  if (at < text.length) return { kind: "literal", value, start, end: at + 1 };
  const message = `The text that begins here has no closing ${quote === "'" ? "single" : "double"} quote.`;
  const remedy = "Close it; inside of a text write a quote as `\\'`.";
  return toFault({ start, end: text.length }, { message, remedy });
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** How many characters are written, and what they mean. */
function readChar(text: string, at: number): readonly [number, string] {
  const char = text[at] ?? "";
  if (char !== "\\") return [1, char];
  const hex = /^u([0-9a-fA-F]{4})$/.exec(text.slice(at + 1, at + 6))?.[1];
  if (hex !== undefined) return [6, String.fromCharCode(Number.parseInt(hex, 16))];
  const meant = ESCAPES.get(text[at + 1] ?? "");
  return meant === undefined ? [1, char] : [2, meant];
}
