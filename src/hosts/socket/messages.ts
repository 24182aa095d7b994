import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { TERMINAL_METHODS, type TerminalMethod } from "./terminal-calls.ts";

/** What callers of an owner may ask. Laying everything down is the owner's own business. */
export type Method =
  | "startRun"
  | "resumeRun"
  | "cancelRun"
  | "answerApproval"
  | "sendSignal"
  | "deleteRun"
  | "settled"
  | "watch"
  | "unwatch"
  | "callTerminal"
  | "abortCall"
  | TerminalMethod;

export interface Request {
  readonly id: number;
  readonly method: Method;
  readonly params: JsonObject;
}

/** One line each way: an answer to a request, or a notice of a run that the caller watches. */
export type Reply =
  | { readonly id: number; readonly result: Json }
  | { readonly id: number; readonly error: SentError }
  | { readonly watch: string; readonly notice: Json };

export interface SentError {
  readonly message: string;
  /** Absent: a defect of the owner, without a row in the table. */
  readonly code?: ErrorCode;
  readonly remedy?: string;
  readonly details?: Json;
}

const METHODS: readonly string[] = [
  "startRun",
  "resumeRun",
  "cancelRun",
  "answerApproval",
  "sendSignal",
  "deleteRun",
  "settled",
  "watch",
  "unwatch",
  "callTerminal",
  "abortCall",
  ...TERMINAL_METHODS,
] satisfies readonly Method[];

/** Undefined: the line is no request. */
export function toRequest(line: Json | undefined): Request | undefined {
  if (!isJsonObject(line)) return undefined;
  const { id, method, params } = line;
  if (typeof id !== "number" || !isMethod(method) || !isJsonObject(params)) return undefined;
  return { id, method, params };
}

function isMethod(method: Json | undefined): method is Method {
  return typeof method === "string" && METHODS.includes(method);
}

/** Undefined: the line is no JSON. */
export function parseLine(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}

export function toSentError(error: unknown): SentError {
  if (!isPawlError(error)) return { message: error instanceof Error ? error.message : String(error) };
  const { message, code, remedy, details } = error;
  return { message, code, remedy, details };
}

export function toError(sent: Json): Error {
  if (!isJsonObject(sent)) return new Error("The owner reported an error without a text.");
  const { code, remedy, details } = sent;
  const message = typeof sent["message"] === "string" ? sent["message"] : "The owner reported an error without a text.";
  if (typeof code !== "string" || !isErrorCode(code)) return new Error(message);
  return new PawlError(code, { message, ...(typeof remedy === "string" ? { remedy } : {}), details });
}
