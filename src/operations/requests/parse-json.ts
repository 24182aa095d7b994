import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { isJsonDeeperThan } from "../../core/json-depth.ts";
import { IntegerTooLong } from "../../core/long-integers.ts";

/** How deep JSON from outside may be. */
export const MAX_REQUEST_DEPTH = 100;

/** JSON from outside. Throws `REQUEST_INVALID`; `what` it is, for people. */
export function parseJson(text: string, what: string): Json {
  if (isJsonDeeperThan(text, MAX_REQUEST_DEPTH)) {
    throw new PawlError("REQUEST_INVALID", { message: `${what} nests more than ${MAX_REQUEST_DEPTH} levels deep.` });
  }
  const value = parse(text, what);
  if (MAY_OVERFLOW.test(text) && hasInfinity(value)) {
    throw new PawlError("REQUEST_INVALID", { message: `${what} has a number that is too large for a double.` });
  }
  return value;
}

function parse(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const flaw = error instanceof IntegerTooLong ? `cannot be kept. ${error.message}.` : "is not valid JSON.";
    throw new PawlError("REQUEST_INVALID", { message: `${what} ${flaw}` });
  }
}

/** All others are far from it, and need not be looked at one by one. */
const MAY_OVERFLOW = /\d[eE]\+?\d\d|(?<!\d)\d{290}/;

/** Written down again it would be `null`: what was sent and what is stored would differ. */
function hasInfinity(value: Json): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (Array.isArray(value)) return value.some(hasInfinity);
  return isJsonObject(value) && Object.values(value).some(hasInfinity);
}
