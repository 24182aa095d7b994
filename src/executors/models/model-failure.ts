import type { ErrorCode } from "../../core/errors/error-table.ts";
import { writeExact } from "../../core/exact-json.ts";
import { asObject, type JsonObject } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";
import { readRetryAfter } from "../capacity/rate-headers.ts";
import { toFailed, toInterrupted, toRefused } from "../output/failure.ts";
import { createRedactor } from "../output/redact.ts";
import { toShownText } from "../output/shown-text.ts";

const MAX_SHOWN_CHARS = 2_000;
const MAX_UNREADABLE_CHARS = 200;

/** A failure of a provider that says itself what it means for the attempt, as a mock model does. */
export class KnownFailure extends Error {
  readonly failed: Failed;

  constructor(failed: Failed) {
    super(failed.message);
    this.failed = failed;
  }
}

export interface FailedModel {
  /** `provider:model` */
  readonly id: string;
  readonly secrets: readonly string[];
}

/**
 * Turns a provider's error into a failure of the attempt. Asking a model changes nothing outside, so it can always be tried again;
 * what it cost is unknown where the answer was on its way.
 */
export function toModelFailure(error: unknown, model: FailedModel): Failed {
  if (error instanceof KnownFailure) return error.failed;
  // The SDK has put what our `fetch` says of an answer into an error of its own.
  if (error instanceof Error && error.cause instanceof KnownFailure) return error.cause.failed;
  const call = readCallError(error);
  // The connection may also break while an answer comes.
  const isBroken = call?.status === undefined || (call.status < 300 && codesOf(call.cause) !== "");
  if (call !== undefined) return isBroken ? toUnreached(call, model.id) : toRefusal(call, model.id);
  if (!(error instanceof Error) || !error.name.startsWith("AI_")) return toDefect(error);
  if (MISREAD.test(error.name)) return toUnreadable(model, { cause: "its form is not known", text: shownValue(error) });
  return toRefused("MODEL_REFUSED", `The model ${model.id} cannot be asked like this: ${shorten(error.message)}`);
}

const MISREAD = /^AI_(?:TypeValidation|InvalidResponseData|EmptyResponseBody)Error$/;

function shownValue(error: Error & { value?: unknown; data?: unknown }): string {
  return writeExact(error.value ?? error.data ?? error.message);
}

/** An answer of the provider that makes no sense, and would make none if it were asked for again. */
export function toUnreadable(
  { id, secrets }: FailedModel,
  { cause, text }: { readonly cause: string; readonly text: string },
): Failed {
  const shown = toShownText(createRedactor(secrets).text(text)).slice(0, MAX_UNREADABLE_CHARS);
  return toFailed("MODEL_UNAVAILABLE", {
    message: `The provider of ${id} sent an answer that cannot be read (${cause}): ${JSON.stringify(shown)}`,
    retryable: true,
    effect: "none",
    costMicro: null,
    details: { answer: shown, reason: UNREADABLE },
  });
}

const UNREADABLE = "unreadable";

/** Whether the model may answer if it is asked again soon. */
export function passesByItself({ code, retryable, details }: Failed): boolean {
  return retryable && PASSING.has(code) && asObject(details)["reason"] !== UNREADABLE;
}

const PASSING: ReadonlySet<string> = new Set(["MODEL_RATE_LIMITED", "MODEL_UNAVAILABLE", "MODEL_UNREACHABLE"]);

/** Turns an error in the middle of a stream into a failure: the provider sent it, or the connection broke. */
export function toStreamFailure(error: unknown, model: FailedModel): Failed {
  const isTold = error instanceof KnownFailure || readCallError(error) !== undefined;
  if (isTold || (error instanceof Error && error.name === "AI_TypeValidationError"))
    return toModelFailure(error, model);
  const { statusCode, message } = readErrorObject(error);
  if (statusCode !== undefined) {
    const refusal = { message, status: statusCode, retryAfter: undefined, body: "", cause: undefined };
    return { ...toRefusal(refusal, model.id), costMicro: null };
  }
  const reason = codesOf(error);
  return toBrokenOff(`The answer of ${model.id} broke off (${reason || shorten(message)}).`, reason);
}

/** The provider may be charging for what it has said, so what it costs is unknown. */
function toBrokenOff(message: string, reason: string): Failed {
  const details = { reason: reason || "broken off" };
  return toFailed("MODEL_UNREACHABLE", { message, retryable: true, effect: "none", costMicro: null, details });
}

/** The host stopped the attempt while the model was thinking. */
export function toStopped(): Failed {
  const message = "The attempt was stopped before the model had answered.";
  return { ...toInterrupted("none"), message, costMicro: null };
}

function readErrorObject(error: unknown): { readonly message: string; readonly statusCode: number | undefined } {
  if (typeof error !== "object" || error === null) return { message: String(error), statusCode: undefined };
  const { message, statusCode, code } = error as { message?: unknown; statusCode?: unknown; code?: unknown };
  const status = [statusCode, code].find((value) => typeof value === "number");
  return { message: typeof message === "string" ? message : "no reason given", statusCode: status };
}

/** It is not thrown on: the message may hold the key, and only here the secrets are known. */
function toDefect(error: unknown): Failed {
  const message = error instanceof Error ? error.message : String(error);
  const details = { stack: shorten(error instanceof Error ? (error.stack ?? "") : "") };
  return toFailed("EXECUTOR_FAULT", {
    message: shorten(message),
    retryable: false,
    effect: "none",
    costMicro: null,
    details,
  });
}

/** The SDK's error of a failed request. It is told by its name, since importing its class would load the whole SDK. */
interface CallError {
  readonly message: string;
  /** Absent: nobody knows which server was asked. */
  readonly host?: string | undefined;
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly body: string;
  readonly cause: unknown;
}

function readCallError(error: unknown): CallError | undefined {
  if (!(error instanceof Error) || error.name !== "AI_APICallError") return undefined;
  const { url, statusCode, responseHeaders, responseBody } = error as Error & {
    url?: string;
    statusCode?: number;
    responseHeaders?: Readonly<Record<string, string>>;
    responseBody?: unknown;
  };
  return {
    message: error.message,
    host: url === undefined ? undefined : URL.parse(url)?.host,
    status: statusCode,
    retryAfter: responseHeaders === undefined ? undefined : readRetryAfter(responseHeaders, Date.now()),
    // Mostly the text, but some providers put the parsed document there.
    body: typeof responseBody === "string" ? responseBody : (JSON.stringify(responseBody) ?? ""),
    cause: error.cause,
  };
}

// Nothing was sent. After any other break the provider may be answering, and charging.
const NEVER_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;

function toUnreached({ message, host, cause }: CallError, modelId: string): Failed {
  const reason = codesOf(cause);
  const wasSent = !NEVER_SENT.test(reason);
  const said = `The provider of ${modelId} ${wasSent ? "broke off" : "cannot be reached"} (${reason || shorten(message)}).`;
  return toFailed("MODEL_UNREACHABLE", {
    message: said,
    retryable: true,
    effect: "none",
    costMicro: wasSent ? null : 0,
    details: { reason: reason || "no answer", ...(host === undefined ? {} : { host }) },
  });
}

/** The codes of an error and of what caused it: texts of the runtime may hold the request. */
function codesOf(error: unknown): string {
  const codes: string[] = [];
  for (let at = error; at instanceof Error && codes.length < 5; at = at.cause) {
    if ("code" in at && typeof at.code === "string") codes.push(at.code);
    if (at instanceof AggregateError) codes.push(...at.errors.map(codesOf));
  }
  return [...new Set(codes)].join(", ");
}

function toRefusal({ message, host, status = 0, retryAfter, body }: CallError, modelId: string): Failed {
  const { code, does, retryable } = isTooLong(status, `${message} ${body}`) ? TOO_LONG : meaningOf(status);
  const details: JsonObject = {
    status,
    ...(host === undefined ? {} : { host }),
    model: modelId,
    answer: shorten(body),
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
  };
  return toFailed(code, {
    message: `The provider of ${modelId} ${does} (${status}): ${shorten(message)}`,
    retryable,
    effect: "none",
    // An answer that cannot be read was still given.
    costMicro: status < 300 ? null : 0,
    details,
  });
}

interface Meaning {
  readonly code: ErrorCode;
  readonly does: string;
  readonly retryable: boolean;
}

const TOO_LONG: Meaning = {
  code: "MODEL_CONTEXT_TOO_LONG",
  does: "cannot read a conversation of this length",
  retryable: false,
};

// Anthropic, OpenAI, Google, vLLM and llama.cpp, each in its own words.
const TOO_LONG_WORDS =
  /prompt is too long|context_length_exceeded|maximum context length|context window|input token count .*exceeds|exceeds? the (?:available |model'?s )?context|too many tokens/i;

function isTooLong(status: number, said: string): boolean {
  return (status === 400 || status === 413 || status === 422) && TOO_LONG_WORDS.test(said);
}

function meaningOf(status: number): Meaning {
  if (status === 401 || status === 403)
    return { code: "MODEL_UNAUTHORIZED", does: "refused the key", retryable: false };
  if (status === 429) return { code: "MODEL_RATE_LIMITED", does: "asks for fewer requests", retryable: true };
  if (status === 408 || status === 409 || status >= 500)
    return { code: "MODEL_UNAVAILABLE", does: "failed", retryable: true };
  if (status < 300) return { code: "MODEL_UNAVAILABLE", does: "sent an answer that cannot be read", retryable: true };
  if (status < 400)
    return { code: "MODEL_REFUSED", does: "sends requests elsewhere; set `base_url` to where it is", retryable: false };
  return { code: "MODEL_REFUSED", does: "refused the request", retryable: false };
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}...`;
}

/** Refused before anything is paid: what a model costs that has no price cannot be held against a budget. */
export function toUnpriced({ id }: { readonly id: string }): Failed {
  const message = `The model ${id} has no known price, so a budget cannot hold.`;
  const remedy = `Set \`models.prices\` for "${id}", or run without a budget.`;
  return toRefused("PRICE_UNKNOWN", `${message} ${remedy}`);
}
