import type { IncomingHttpHeaders } from "node:http";
import type { Effect } from "../../core/history/events.ts";
import type { JsonObject } from "../../core/json.ts";
import { orElse } from "../../core/or-else.ts";
import { type ReadJson, readJson } from "../../core/parse-json.ts";
import { SECRET_NAME } from "../../core/trust/secret-names.ts";
import type { Failed, Outcome } from "../../ports/executor.ts";
import type { OutboundResult } from "../../ports/outbound.ts";
import { toFailed, toInterrupted, toRefused } from "../output/failure.ts";
import { createRedactor } from "../output/redact.ts";
import { extensionOf, START_CHARS, showStart } from "../output/shown-text.ts";
import { type HttpInput, isSafe, secretsOf } from "./http-input.ts";

type Answered = Extract<OutboundResult, { ok: true }>;
type Unanswered = Extract<OutboundResult, { ok: false }>;

const MAX_SHOWN_CHARS = 2_000;
const JSON_TYPE = /^\s*[\w.+-]+\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i;
const CHARSET = /charset\s*=\s*["']?([\w:.-]+)/i;

/** Where the work may have been done by then: made by a proxy in front of the server. */
const OF_GATEWAYS: readonly number[] = [502, 503, 504];

/** Turns an answer into the outcome of a step. A request costs nothing that is counted in money. */
export function toOutcome(result: OutboundResult, input: HttpInput): Outcome {
  if (!result.ok) return { ...toUnanswered(result, input), costMicro: 0 };
  if (!isExpected(result.status, input)) return { ...toUnexpected(result, input), costMicro: 0 };
  const { status, headers, isCut } = result;
  const effect = isSafe(input) ? "none" : "done";
  if (isCut) {
    const message = `${originOf(input)} sent an answer that is larger than \`limits.max_output_bytes\` or the step allows.`;
    return toFailed("OUTPUT_TOO_LARGE", { message, retryable: false, effect, costMicro: 0 });
  }
  const type = headers["content-type"] ?? "";
  if (input.response === "file") return toFile(result);
  const text = readText(result);
  if (text === undefined) {
    const message = `${originOf(input)} answered with ${type || "bytes"}, which is no text.`;
    return toFailed("HTTP_FAILED", { message, retryable: false, effect, costMicro: 0 });
  }
  const read = readBody(text, input.response === "auto" ? type : input.response === "json" ? "application/json" : "");
  if (!read.ok) return { ...toUnreadable(text, { type, flaw: read.flaw }, input), costMicro: 0 };
  return { status: "succeeded", output: { status, headers: toShownHeaders(headers), body: read.value }, costMicro: 0 };
}

/** The bytes go where files go; the output names the file. */
function toFile({ status, headers, body: content }: Answered): Outcome {
  const type = headers["content-type"] ?? "";
  const name = `response.${extensionOf(type)}`;
  const body = { file: name, bytes: content.byteLength, type };
  return {
    status: "succeeded",
    output: { status, headers: toShownHeaders(headers), body },
    files: [{ name, content }],
    costMicro: 0,
  };
}

function isExpected(status: number, { expected_status: expected }: HttpInput): boolean {
  return expected === undefined ? status >= 200 && status < 300 : expected.includes(status);
}

function toUnanswered({ reason, message, wasSent }: Unanswered, input: HttpInput): Failed {
  const effect = wasSent && !isSafe(input) ? "unknown" : "none";
  const who = originOf(input);
  switch (reason) {
    case "refused":
      // A redirect is refused after the first request was answered.
      return toFailed("HTTP_NOT_ALLOWED", { message: `${who}: ${message}`, retryable: false, effect });
    case "unreachable":
      return toFailed("HTTP_UNREACHABLE", { message: `${who}: ${message}`, retryable: true, effect });
    case "timedOut":
      return toFailed("TIMEOUT", { message: `${who}: ${message}`, retryable: true, effect });
    case "aborted":
      return toInterrupted(effect);
  }
}

/** `details` are those of every server that refuses, so that a pool knows when to ask again. */
function toUnexpected(answer: Answered, input: HttpInput): Failed {
  const { status, headers } = answer;
  const text = readText(answer)?.slice(0, MAX_SHOWN_CHARS) ?? "";
  const retryAfter = headers["retry-after"];
  const details = { status, answer: text, ...(retryAfter === undefined ? {} : { retry_after: retryAfter }) };
  const words = text.trim() === "" ? "no reason given" : text.trim().slice(0, 300);
  const said = headers.location === undefined ? words : `it redirects to ${headers.location}, which is not followed`;
  const message = `${originOf(input)} answered ${status}: ${said}`;
  const isUndone = status === 429 || (status === 503 && retryAfter !== undefined);
  const isTemporary = status === 429 || status === 408 || status === 425 || status >= 500;
  const effect: Effect = isSafe(input) || isUndone || status < 500 ? "none" : "unknown";
  const isAnswered = !OF_GATEWAYS.includes(status) && status !== 429;
  return toFailed("HTTP_FAILED", {
    message,
    details,
    retryable: isTemporary,
    effect,
    ...(isAnswered ? { isAnswered } : {}),
  });
}

/** A request that cannot even be written. */
export function toUnsendable(problem: string): Failed {
  return toRefused("HTTP_REQUEST_INVALID", problem);
}

function readBody(text: string, type: string): ReadJson {
  if (!JSON_TYPE.test(type)) return { ok: true, value: text };
  return text.trim() === "" ? { ok: true, value: null } : readJson(text);
}

/** A proxy in front of the server may have said it, under maintenance for instance. */
function toUnreadable(
  text: string,
  { type, flaw }: { readonly type: string; readonly flaw: string },
  input: HttpInput,
): Failed {
  const shown = showStart(text, createRedactor(secretsOf(input)));
  const message = `${originOf(input)} answered with ${type} that ${flaw}: ${shown}${shown.length < START_CHARS ? "" : "..."}`;
  return toFailed("HTTP_FAILED", { message, retryable: isSafe(input), effect: isSafe(input) ? "none" : "unknown" });
}

/** Undefined: it is no text. */
function readText({ body, headers }: Answered): string | undefined {
  const charset = CHARSET.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8";
  return orElse(() => new TextDecoder(charset, { fatal: true }).decode(body), undefined);
}

/** Without those that hold secrets. */
function toShownHeaders(headers: IncomingHttpHeaders): JsonObject {
  const shown = Object.entries(headers).filter(([name]) => !SECRET_NAME.test(name));
  return Object.fromEntries(
    shown.map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}

/** The address without what may be secret in it. */
function originOf({ url }: HttpInput): string {
  return URL.parse(url.trim())?.origin ?? "The server";
}
