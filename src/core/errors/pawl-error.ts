import type { Json } from "../json.ts";
import { ERRORS, type ErrorCode } from "./error-table.ts";

/** An error that a user can meet. Bugs are plain assertions instead. */
export class PawlError extends Error {
  readonly code: ErrorCode;
  /** The next thing to do: the table's remedy, unless the thrower knows a better one. */
  readonly remedy: string;
  readonly details: Json | undefined;

  constructor(code: ErrorCode, options: { message: string; remedy?: string; details?: Json; cause?: unknown }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "PawlError";
    this.code = code;
    this.remedy = options.remedy ?? ERRORS[code].remedy;
    this.details = options.details;
  }
}

export function isPawlError(error: unknown): error is PawlError {
  return error instanceof PawlError;
}
