import type { Context } from "hono";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { answerJson } from "./answer-json.ts";
import { statusOfError } from "./error-status.ts";
import type { ErrorShape, HttpEnv, HttpParts } from "./http-parts.ts";

interface Asked {
  readonly c: Context<HttpEnv>;
  /** How errors are written where the request went to. */
  readonly shape: ErrorShape;
}

/** Answers an error in the shape that belongs to the path. A defect is reported, and the caller is told nothing of it. */
export function answerError(parts: Pick<HttpParts, "onDefect">, error: unknown, asked: Asked): Response {
  const { c, shape } = asked;
  if (!isPawlError(error)) {
    parts.onDefect(error);
    return answerJson(c, shapeError(asked, INTERNAL), 500);
  }
  const status = statusOfError(error.code, shape);
  if (status === 429 || status === 503) c.header("retry-after", String(secondsToWait(error)));
  return answerJson(
    c,
    shapeError(asked, status >= 500 && status !== 503 ? withoutDetails(error) : toShown(error)),
    status,
  );
}

function secondsToWait({ details }: PawlError): number {
  const told = isJsonObject(details) ? details["retry_after_s"] : undefined;
  return typeof told === "number" ? told : 1;
}

interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly remedy?: string;
  readonly details?: Json;
}

const INTERNAL: ShownError = { code: "INTERNAL", message: "The server has met a defect." };

function toShown({ code, message, remedy, details }: PawlError): ShownError {
  return { code, message, remedy, ...(details === undefined ? {} : { details }) };
}

/** Details of what is wrong inside the application are for its log. */
function withoutDetails({ code, message, remedy }: PawlError): ShownError {
  return { code, message, remedy };
}

/** What was asked, for who reads logs and records. */
export interface ErrorIds {
  readonly request_id: string;
  /** Absent: no run has begun. */
  readonly run_id?: string | undefined;
}

/** The one form of errors, wherever no protocol of others has its own. */
export function toErrorEnvelope(
  {
    code,
    message = null,
    remedy = "",
    details = null,
  }: { readonly code: string; readonly message?: Json | undefined } & Partial<Pick<ShownError, "remedy" | "details">>,
  { request_id, run_id }: ErrorIds,
): JsonObject {
  const ids = { request_id, ...(run_id === undefined ? {} : { run_id }) };
  return { data: null, error: { code, message, remedy, details, ...ids } };
}

function shapeError({ c, shape }: Asked, shown: ShownError): JsonObject {
  const { code, message, remedy, details } = shown;
  const ids: ErrorIds = { request_id: c.get("requestId"), run_id: c.get("runId") };
  if (shape === "envelope") return toErrorEnvelope(shown, ids);
  const { request_id, run_id } = ids;
  const run: JsonObject = run_id === undefined ? {} : { run_id };
  const hint: JsonObject = remedy === undefined ? {} : { remedy };
  const more: JsonObject =
    details === undefined || details === null ? {} : isJsonObject(details) ? details : { details };
  if (shape === "agents") return { detail: message, code, ...hint, request_id, ...run, ...more };
  return { error: message, details: { code, ...hint, requestId: request_id, ...run, ...more } };
}
