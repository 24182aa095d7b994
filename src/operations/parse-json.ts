import type { ErrorCode } from "../core/errors/error-table.ts";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { Json } from "../core/json.ts";
import { readJson } from "../core/parse-json.ts";

/** How deep JSON from outside may be. */
export const MAX_REQUEST_DEPTH = 100;

/** JSON from outside. Throws `REQUEST_INVALID`; `what` it is, for people. */
export function parseJson(text: string, what: string): Json {
  const read = readJson(text, MAX_REQUEST_DEPTH);
  if (!read.ok) throw new PawlError("REQUEST_INVALID", { message: `${what} ${read.flaw}.` });
  return read.value;
}

/** JSON where the text is some, else the text itself. Throws `code` for JSON that cannot be kept. */
export function toValue(text: string, what: string, code: ErrorCode = "REQUEST_INVALID"): Json {
  const read = readJson(text);
  if (read.ok) return read.value;
  if (read.isJson) throw new PawlError(code, { message: `${what} ${read.flaw}.` });
  return text;
}
