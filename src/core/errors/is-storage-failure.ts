import { isPawlError } from "./pawl-error.ts";

/** The storage fails, not what was to be stored: it is tried again, and an attempt has no outcome at all. */
export function isStorageFailure(error: unknown): boolean {
  return isPawlError(error) && (error.code === "JOURNAL_FULL" || error.code === "JOURNAL_IO");
}
