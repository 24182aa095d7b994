import type { Json } from "../core/json.ts";

/** What a server has refused, or that it cannot be reached. `remedy` says what to do next. */
export class ApiError extends Error {
  /** Of the table of errors; `SERVER_UNREACHABLE` and `NOT_A_PAWL_SERVER` are said by the client itself. */
  readonly code: string;
  readonly remedy: string;
  readonly details: Json;
  /** Of the HTTP answer. Absent: there was none. */
  readonly status: number | undefined;

  constructor(
    code: string,
    options: { message: string; remedy: string; details?: Json; status?: number; cause?: unknown },
  ) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.remedy = options.remedy;
    this.details = options.details ?? null;
    this.status = options.status;
  }
}
