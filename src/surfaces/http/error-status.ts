import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { ErrorShape } from "./http-parts.ts";

export type ErrorStatus = 400 | 403 | 404 | 405 | 413 | 429 | 500 | 503;

/** With what status an error is answered. What has no row here is the server's own trouble. */
const STATUS: Partial<Record<ErrorCode, ErrorStatus>> = {
  REQUEST_INVALID: 400,
  INPUT_INVALID: 400,
  ENDPOINT_NOT_ALLOWED: 400,
  NOT_SUPPORTED: 400,
  HOST_REFUSED: 403,
  PATH_NOT_FOUND: 404,
  WORKFLOW_NOT_FOUND: 404,
  STEP_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  QUEUE_UNKNOWN: 404,
  EVENT_UNKNOWN: 404,
  METHOD_NOT_ALLOWED: 405,
  BODY_TOO_LARGE: 413,
  SERVER_BUSY: 429,
  SERVER_STOPPING: 503,
  OWNER_GONE: 503,
  OWNER_UNREACHABLE: 503,
  JOURNAL_FULL: 503,
  JOURNAL_IO: 503,
};

/** The sandbox protocol has no 404: what a request names and is not there is a bad request. */
export function statusOfError(code: ErrorCode, shape: ErrorShape): ErrorStatus {
  const status = STATUS[code] ?? 500;
  return shape === "execute" && status === 404 ? 400 : status;
}
