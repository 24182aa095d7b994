import type { ErrorCode } from "../core/errors/error-table.ts";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { Json } from "../core/json.ts";
import { type ReadJson, readJson } from "../core/parse-json.ts";
import { findJsonFault } from "../dialects/source/find-json-fault.ts";

/** How deep JSON from outside may be. */
export const MAX_REQUEST_DEPTH = 100;

/** So many lists and objects any text from outside may have, and a longer one as many as it has characters, divided by this. */
const MANY_PARTS = 100_000;
const CHARS_PER_PART = 10;

/** JSON from outside. Throws `REQUEST_INVALID`; `what` it is, for people. */
export function parseJson(text: string, what: string): Json {
  refuseManyParts(text, what);
  const read = readJson(text, MAX_REQUEST_DEPTH);
  if (!read.ok) throw new PawlError("REQUEST_INVALID", { message: `${what} ${placeFlaw(text, read)}.` });
  return read.value;
}

/** The flaw of a text that is no JSON, with the place where it ends to be some. */
export function placeFlaw(text: string, { flaw, isJson }: Extract<ReadJson, { readonly ok: false }>): string {
  const fault = isJson ? undefined : findJsonFault(text);
  if (fault === undefined) return flaw;
  const before = text.slice(0, fault.start).split("\n");
  const place = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
  return `${flaw} (${place}): ${fault.message.replace(/\.$/, "").replace(/^The file/, "the text")}`;
}

/** JSON where the text is some, else the text itself. Throws `code` for JSON that cannot be kept. */
export function toValue(text: string, what: string, code: ErrorCode = "REQUEST_INVALID"): Json {
  const read = readJson(text);
  if (read.ok) return read.value;
  if (read.isJson) throw new PawlError(code, { message: `${what} ${read.flaw}.` });
  return text;
}

/** To make and to clear away a list of hundreds of thousands of `{}` keeps all others waiting. Brackets in strings count too. */
function refuseManyParts(text: string, what: string): void {
  const most = Math.max(MANY_PARTS, text.length / CHARS_PER_PART);
  if (text.length <= most) return;
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) parts += 1;
  }
  if (parts <= most) return;
  throw new PawlError("REQUEST_INVALID", {
    message: `${what} has ${parts} lists and objects; ${Math.floor(most)} may be in a text of this length.`,
  });
}

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
