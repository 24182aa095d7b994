import type { ErrorCode } from "./error-table.ts";
import { isPawlError } from "./pawl-error.ts";

const FAILURES: ReadonlySet<ErrorCode> = new Set(["JOURNAL_FULL", "JOURNAL_IO", "STORAGE_UNAVAILABLE"]);

/** The storage fails, not what was to be stored: it is tried again, and an attempt has no outcome at all. */
export function isStorageFailure(error: unknown): boolean {
  return isPawlError(error) && FAILURES.has(error.code);
}
