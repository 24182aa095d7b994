import { sanitize } from "./sanitize.ts";

/** A step's address as a person reads it: with the names as they were written. Addresses to give back stay escaped. */
export function showPath(path: string): string {
  return sanitize(path.replace(/(?:%[\dA-F]{2})+/g, unescaped));
}

function unescaped(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}
