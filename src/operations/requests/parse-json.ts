import { PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { isJsonDeeperThan } from "../../core/json-depth.ts";
import { NumberTooLarge } from "../../core/long-integers.ts";

/** How deep JSON from outside may be. */
export const MAX_REQUEST_DEPTH = 100;

/** JSON from outside. Throws `REQUEST_INVALID`; `what` it is, for people. */
export function parseJson(text: string, what: string): Json {
  if (isJsonDeeperThan(text, MAX_REQUEST_DEPTH)) {
    throw new PawlError("REQUEST_INVALID", { message: `${what} nests more than ${MAX_REQUEST_DEPTH} levels deep.` });
  }
  try {
    return parseExact(text);
  } catch (error) {
    const flaw = error instanceof NumberTooLarge ? `cannot be kept. ${error.message}.` : "is not valid JSON.";
    throw new PawlError("REQUEST_INVALID", { message: `${what} ${flaw}` });
  }
}
