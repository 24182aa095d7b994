import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Failed } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";

/** A file could not be written. A full disk may have room again; a wrong path stays wrong. A defect goes on as one. */
export function toWriteFailure(error: unknown): Failed {
  if (!isPawlError(error)) throw error;
  const { code, message } = error;
  const retryable = code === "JOURNAL_FULL" || code === "JOURNAL_IO";
  return toFailed(code, { message, retryable, effect: "unknown", costMicro: 0 });
}
