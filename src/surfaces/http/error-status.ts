import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { ErrorShape } from "./http-parts.ts";

export type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 501 | 503;

/** With what status an error is answered. What has no row here is the server's own trouble. */
const STATUS: Partial<Record<ErrorCode, ErrorStatus>> = {
  REQUEST_INVALID: 400,
  INPUT_INVALID: 400,
  ENDPOINT_NOT_ALLOWED: 400,
  NOT_SUPPORTED: 400,
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
  CHANGE_INVALID: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_GRANTED: 403,
  HOST_REFUSED: 403,
  PATH_NOT_FOUND: 404,
  WORKFLOW_NOT_FOUND: 404,
  AGENT_NOT_FOUND: 404,
  STEP_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  DEAD_LETTER_NOT_FOUND: 404,
  KEY_NOT_FOUND: 404,
  BUDGET_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  SCHEDULE_NOT_FOUND: 404,
  QUEUE_UNKNOWN: 404,
  EVENT_UNKNOWN: 404,
  STORAGE_MISSING: 404,
  TEMPLATE_NOT_FOUND: 404,
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
  NAME_TAKEN_TWICE: 409,
  ROUTE_AMBIGUOUS: 409,
  IDEMPOTENCY_MISMATCH: 422,
  BUDGET_EXCEEDED: 402,
  SIGNALS_FULL: 429,
  RATE_LIMITED: 429,
  SCHEMA_TOO_COSTLY: 422,
  BODY_TOO_LARGE: 413,
  CONTENT_TYPE_REFUSED: 415,
  SERVER_BUSY: 429,
  AGENT_NOT_CONFIGURED: 503,
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
  // The host's own files: nobody is ready.
  FILE_NOT_FOUND: 503,
  DEFINITION_INVALID: 503,
};

/** The sandbox protocol has no 404: what a request names and is not there is a bad request. */
export function statusOfError(code: ErrorCode, shape: ErrorShape): ErrorStatus {
  const status = (shape === "agents" ? AGENTS_STATUS[code] : undefined) ?? STATUS[code] ?? 500;
  return shape === "execute" && status === 404 ? 400 : status;
}
