import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isBase64 } from "../../core/expressions/encodings.ts";
import { NO_STATUS, toHttpStatus } from "../../core/http-status.ts";
import { isJsonObject, isNumber, type Json, type JsonObject } from "../../core/json.ts";
import { shapeResult } from "../../operations/requests/to-response.ts";
import type { RunResult } from "../../operations/runs/read-run-result.ts";
import { type ErrorIds, toErrorEnvelope } from "./answer-error.ts";

/** A route answers with the response that its workflow has shaped. Throws `RESPONSE_INVALID`. */
export function toHttpResponse(outcome: RunResult["outcome"], ids: ErrorIds): Response {
  if (outcome.is === "failed") {
    const { code, message, details, isSaid } = outcome;
    if (!isSaid) return failedRun(code, ids);
    const { statusCode } = ownFields(isJsonObject(details) ? details : {});
    return shapedError({ code, message, details, ...(statusCode === undefined ? {} : { statusCode }) }, ids);
  }
  const { resultType, data } = shapeResult(outcome);
  if (resultType === "httpResponse") return shapedResponse(data);
  if (resultType === "error" || resultType === "application_error" || resultType === "framework_error")
    return shapedError(data, ids);
  return json(data, 200);
}

/** The caller is told the code only. The details are in the run's record. */
function failedRun(code: string, ids: ErrorIds): Response {
  const shown = /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : "STEP_FAILED";
  return json(toErrorEnvelope({ code: shown, message: "The request could not be completed." }, ids), 500);
}

/** By the codes that authors like to use; `statusCode` in the data goes before them. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  BAD_REQUEST: 400,
  INVALID: 400,
  INVALID_INPUT: 400,
  INPUT_INVALID: 400,
  VALIDATION_ERROR: 400,
  VALIDATION_FAILED: 400,
  UNAUTHORIZED: 401,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  ALREADY_EXISTS: 409,
  GONE: 410,
  UNPROCESSABLE: 422,
  TOO_MANY_REQUESTS: 429,
  RATE_LIMITED: 429,
  NOT_IMPLEMENTED: 501,
  UNAVAILABLE: 503,
  TIMEOUT: 504,
};

function shapedError(data: Json, ids: ErrorIds): Response {
  const shaped = isJsonObject(data) ? data : { message: data };
  const { statusCode, code, message, details } = ownFields(shaped);
  const name = typeof code === "string" ? code : "ERROR";
  const asked = toHttpStatus(statusCode);
  if (asked === undefined && statusCode !== undefined && statusCode !== null) throw invalid(NO_STATUS);
  const known = Object.hasOwn(STATUS_OF_CODE, name) ? STATUS_OF_CODE[name] : undefined;
  const status = asked !== undefined && asked >= 400 ? asked : (known ?? 500);
  return json(toErrorEnvelope({ code: name, message, details }, ids), status);
}

/** No workflow says these: they belong to the connection, are computed, or tell of the request. */
const NOT_OURS = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-request-id",
  "x-run-id",
]);

function shapedResponse(data: Json): Response {
  if (!isJsonObject(data)) throw invalid("`data` must be an object with `statusCode`, `headers` and `body`");
  const { statusCode = 200, headers = {}, body = null, bodyEncoding } = ownFields(data);
  const status = toHttpStatus(statusCode);
  if (status === undefined) throw invalid(NO_STATUS);
  const sent = toHeaders(headers);
  const isBodiless = status === 204 || status === 205 || status === 304;
  const { content, type } = toContent(body, bodyEncoding);
  if (content !== null && !isBodiless && !sent.has("content-type")) sent.set("content-type", type);
  return new Response(isBodiless ? null : content, { status, headers: sent });
}

function toHeaders(headers: Json): Headers {
  if (headers !== null && !isJsonObject(headers)) throw invalid("`headers` must be an object");
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (NOT_OURS.has(name.toLowerCase()) || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) appendHeader(sent, name, each);
  }
  return sent;
}

function appendHeader(headers: Headers, name: string, value: Json): void {
  const isText = typeof value === "string" || isNumber(value) || typeof value === "boolean";
  if (!isText) throw invalid(`the header ${writeExact(name)} must be a text`);
  try {
    headers.append(name, String(value));
  } catch {
    // Line breaks would begin another header. `Headers` trims them at the ends and refuses them inside.
    throw invalid(`the header ${writeExact(name)} has a name or a value that no header has`);
  }
}

interface Content {
  readonly content: string | Uint8Array<ArrayBuffer> | null;
  readonly type: string;
}

function toContent(body: Json, encoding: Json | undefined): Content {
  if (body === null) return { content: null, type: "" };
  if (typeof body !== "string") return { content: writeExact(body), type: "application/json" };
  if (encoding === "base64" && !isBase64(body)) throw invalid("`body` is not base64, as `bodyEncoding` says");
  if (encoding === "base64") return { content: Buffer.from(body, "base64"), type: "application/octet-stream" };
  return { content: body, type: "text/plain; charset=utf-8" };
}

function json(data: Json, status: number): Response {
  return new Response(writeExact(data), { status, headers: { "content-type": "application/json" } });
}

function ownFields(data: JsonObject): { readonly [name: string]: Json | undefined } {
  return Object.assign(Object.create(null), data);
}

function invalid(why: string): PawlError {
  return new PawlError("RESPONSE_INVALID", { message: `The workflow's response cannot be sent: ${why}.` });
}
