import { PawlError } from "../core/errors/pawl-error.ts";
import type { Json } from "../core/json.ts";
import { isJsonDeeperThan } from "../core/json-depth.ts";

/** How deep JSON from outside may be. */
export const MAX_REQUEST_DEPTH = 100;

/** JSON from outside. Throws `REQUEST_INVALID`; `what` it is, for people. */
export function parseJson(text: string, what: string): Json {
  if (isJsonDeeperThan(text, MAX_REQUEST_DEPTH)) {
    throw new PawlError("REQUEST_INVALID", { message: `${what} nests more than ${MAX_REQUEST_DEPTH} levels deep.` });
  }
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new PawlError("REQUEST_INVALID", { message: `${what} is not valid JSON.` });
  }
}
