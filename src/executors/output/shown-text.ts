import type { Redactor } from "./redact.ts";

const ESC = "\u001b";
const BEL = "\u0007";
// No pattern can match a part again after it has failed there: a text that is made to be slow takes one pass, too.
const TERMINAL_STRING = new RegExp(
  `(?:${ESC}[\\]PX^_]|[\u0090\u0098\u009d-\u009f])[^${BEL}${ESC}\u0080-\u009f]*(?:${BEL}|${ESC}\\\\|\u009c)`,
  "g",
);
const TERMINAL_SEQUENCE = new RegExp(`(?:${ESC}\\[|\u009b)[0-?]*[ -/]*[@-~]|${ESC}[ -/]*[0-~]`, "g");
const LINE_END = /\r\n?|[\v\f\u0085]/g;
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Text from outside without ANSI sequences, control characters (but newline and tab), invisible characters and joiners of emoji. */
export function toShownText(text: string): string {
  return text
    .replace(TERMINAL_STRING, "")
    .replace(TERMINAL_SEQUENCE, "")
    .replace(LINE_END, "\n")
    .replace(UNSEEN, "")
    .toWellFormed();
}

export const START_CHARS = 200;

/** The beginning of an unreadable message. */
export function showStart(text: string, redactor: Redactor): string {
  // Masked before it is cut: half of a secret would be shown.
  return toShownText(redactor.text(text.slice(0, 20_000)))
    .trim()
    .slice(0, START_CHARS);
}

/** The ending of a file's name by its media type: `image/svg+xml` is `svg`; anything odd is `bin`. */
export function extensionOf(mimeType: string): string {
  const [, subtype = ""] = /^[a-z]+\/(?:x-)?([a-z0-9]{1,10})(?:[+;]|$)/i.exec(mimeType) ?? [];
  return subtype === "" ? "bin" : subtype.toLowerCase();
}
