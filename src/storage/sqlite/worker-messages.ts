import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Json } from "../../core/json.ts";
import type { RunNo } from "../../ports/journal.ts";
import type { JournalCall } from "./journal-calls.ts";

/** From the caller: one message per call, answered in the order of the calls. */
export interface Request {
  readonly id: number;
  readonly call: JournalCall;
  readonly parameters: readonly unknown[];
}

/** From the worker: first how opening went, then the answers. */
export type Reply =
  | { readonly type: "opened"; readonly newestRun: RunNo }
  | { readonly type: "notOpened"; readonly error: SentError }
  | { readonly type: "returned"; readonly id: number; readonly value: unknown }
  | { readonly type: "threw"; readonly id: number; readonly error: SentError };

/** Posting a message strips errors of their class and their own fields. */
export interface SentError {
  readonly message: string;
  readonly pawl?: { readonly code: ErrorCode; readonly remedy: string; readonly details: Json | undefined };
  readonly stack: string | undefined;
}

export function toSentError(error: unknown): SentError {
  if (isPawlError(error)) {
    const { message, stack, code, remedy, details } = error;
    return { message, stack, pawl: { code, remedy, details } };
  }
  if (error instanceof Error) return { message: error.message, stack: error.stack };
  return { message: String(error), stack: undefined };
}

export function toError({ message, pawl, stack }: SentError): Error {
  const cause = new Error(message);
  if (stack !== undefined) cause.stack = stack;
  if (pawl === undefined) return cause;
  const { code, remedy, details } = pawl;
  return new PawlError(code, { message, remedy, cause, details });
}
