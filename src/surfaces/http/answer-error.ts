import type { Context } from "hono";
import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { answerJson } from "./answer-json.ts";
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

type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 501 | 503;

/** With what status an error is answered. What has no row here is the server's own trouble. */
const STATUS: Partial<Record<ErrorCode, ErrorStatus>> = {
  REQUEST_INVALID: 400,
  INPUT_INVALID: 400,
  ENDPOINT_NOT_ALLOWED: 400,
  NOT_SUPPORTED: 400,
  EVENT_UNMATCHED: 400,
  EMAIL_NOT_CONFIGURED: 400,
  USAGE: 400,
  PRICE_UNKNOWN: 400,
  DEFINITION_INVALID: 400,
  DEFINITION_TOO_COSTLY: 400,
  ROUTE_INVALID: 400,
  ROUTE_RESERVED: 400,
  CRON_INVALID: 400,
  TIMEZONE_INVALID: 400,
  RUN_AMBIGUOUS: 400,
  PART_NOT_CHOSEN: 400,
  STORAGE_PATH_INVALID: 400,
  APPROVAL_EDIT_REFUSED: 400,
  APPROVERS_MISSING: 400,
  MCP_LOGIN_FAILED: 400,
  CHANGE_INVALID: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  APPROVER_REFUSED: 403,
  NOT_GRANTED: 403,
  HOST_REFUSED: 403,
  TERMINAL_REFUSED: 403,
  PATH_NOT_FOUND: 404,
  WORKFLOW_NOT_FOUND: 404,
  AGENT_NOT_FOUND: 404,
  STEP_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  DEAD_LETTER_NOT_FOUND: 404,
  KEY_NOT_FOUND: 404,
  MCP_SERVER_UNKNOWN: 404,
  BUDGET_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  SCHEDULE_NOT_FOUND: 404,
  QUEUE_UNKNOWN: 404,
  EVENT_UNKNOWN: 404,
  STORAGE_MISSING: 404,
  TEMPLATE_NOT_FOUND: 404,
  TERMINAL_NOT_FOUND: 404,
  APPROVAL_NOT_OPEN: 404,
  METHOD_NOT_ALLOWED: 405,
  APPROVAL_CONFLICT: 409,
  SCHEDULE_DEFINED: 409,
  SCHEDULE_CONFLICT: 409,
  RUN_FINISHED: 409,
  RUN_NOT_ENDED: 409,
  RUN_NEEDED: 409,
  DEAD_LETTER_CLOSED: 409,
  IDEMPOTENCY_IN_FLIGHT: 409,
  RUN_ID_TAKEN: 409,
  PLACES_TAKEN: 409,
  NAME_TAKEN_TWICE: 409,
  ROUTE_AMBIGUOUS: 409,
  IDEMPOTENCY_MISMATCH: 422,
  BUDGET_EXCEEDED: 402,
  SIGNALS_FULL: 429,
  EVENTS_FULL: 429,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  STORED_TOO_MUCH: 429,
  SCHEMA_TOO_COSTLY: 422,
  BODY_TOO_LARGE: 413,
  CONTENT_TYPE_REFUSED: 415,
  SERVER_BUSY: 429,
  AGENT_NOT_CONFIGURED: 503,
  ANSWER_TOO_LARGE: 503,
  SERVER_STOPPING: 503,
  OWNER_GONE: 503,
  OWNER_SILENT: 503,
  OWNER_UNREACHABLE: 503,
  JOURNAL_FULL: 503,
  JOURNAL_IO: 503,
  STORAGE_UNAVAILABLE: 503,
  STORAGE_REFUSED: 503,
  DATA_LOST: 503,
};

/** Statuses that clients of the agents' routes expect instead. */
const AGENTS_STATUS: Partial<Record<ErrorCode, ErrorStatus>> = {
  REQUEST_INVALID: 422,
  INPUT_INVALID: 422,
  NOT_SUPPORTED: 501,
  // The host's own files: no application is ready.
  FILE_NOT_FOUND: 503,
  DEFINITION_INVALID: 503,
};

/** The sandbox protocol has no 404: what a request names and is not there is a bad request. */
export function statusOfError(code: ErrorCode, shape: ErrorShape): ErrorStatus {
  const status = (shape === "agents" ? AGENTS_STATUS[code] : undefined) ?? STATUS[code] ?? 500;
  return shape === "execute" && status === 404 ? 400 : status;
}
