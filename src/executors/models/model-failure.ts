import type { ErrorCode } from "../../core/errors/error-table.ts";
import { writeExact } from "../../core/exact-json.ts";
import { asObject, type JsonObject } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";
import { readRetryAfter } from "../capacity/throttle.ts";
import { toFailed, toInterrupted, toRefused } from "../output/failure.ts";
import { createRedactor } from "../output/redact.ts";
import { showStart } from "../output/shown-text.ts";

const MAX_SHOWN_CHARS = 2_000;

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

/** Turns a provider's error into a retryable failure. `isArriving`: the answer had begun, so that its cost is unknown. */
export function toModelFailure(error: unknown, model: FailedModel, isArriving: boolean): Failed {
  // The SDK has put what our `fetch` says of an answer into an error of its own.
  for (const known of [error, error instanceof Error ? error.cause : undefined])
    if (known instanceof KnownFailure) return known.failed;
  const call = readCallError(error);
  if (call !== undefined) {
    const { status, cause } = call;
    // The connection may also break while an answer comes.
    if (status === undefined || (status < 300 && codesOf(cause) !== "")) return toUnreached(call, model);
    const refused = toRefusal(call, { status, model });
    return isArriving ? { ...refused, costMicro: null } : refused;
  }
  const name = error instanceof Error ? error.name : "";
  if (name === "AI_TypeValidationError" || (!isArriving && name === "AI_InvalidResponseDataError"))
    return toUnreadable(model, { cause: "its form is not known", text: shownValue(error) });
  if (isArriving) return toUnreached({ message: messageOf(error), cause: error }, model);
  if (!name.startsWith("AI_")) return toDefect(error);
  return toRefused("MODEL_REFUSED", `The model ${model.id} cannot be asked like this: ${shorten(messageOf(error))}`);
}

function messageOf(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : "no reason given";
}

function shownValue(error: unknown): string {
  const { value, data } = error as { value?: unknown; data?: unknown };
  return writeExact(value ?? data ?? messageOf(error));
}

const UNREADABLE = "unreadable";

/** An answer of the provider that makes no sense, and would make none if it were asked for again. */
export function toUnreadable(
  { id, secrets }: FailedModel,
  { cause, text }: { readonly cause: string; readonly text: string },
): Failed {
  const shown = showStart(text, createRedactor(secrets));
  return toFailed("MODEL_UNAVAILABLE", {
    message: `The provider of ${id} sent an answer that cannot be read (${cause}): ${writeExact(shown)}`,
    retryable: true,
    effect: "none",
    costMicro: null,
    details: { answer: shown, reason: UNREADABLE },
  });
}

const PASSING: ReadonlySet<string> = new Set(["MODEL_RATE_LIMITED", "MODEL_UNAVAILABLE", "MODEL_UNREACHABLE"]);

/** Whether the model may answer if it is asked again soon. */
export function passesByItself({ code, retryable, details }: Failed): boolean {
  return retryable && PASSING.has(code) && asObject(details)["reason"] !== UNREADABLE;
}

/** The host stopped the attempt while the model was thinking. */
export function toStopped(): Failed {
  const message = "The attempt was stopped before the model had answered.";
  return { ...toInterrupted("none"), message, costMicro: null };
}

/** It is not thrown on: the message may hold the key, and only here the secrets are known. */
function toDefect(error: unknown): Failed {
  const details = { stack: shorten(error instanceof Error ? (error.stack ?? "") : "") };
  const facts = { retryable: false, effect: "none", costMicro: null, details } as const;
  return toFailed("EXECUTOR_FAULT", { message: shorten(messageOf(error)), ...facts });
}

/** A failed request, or what a stream says of an error. */
interface CallError {
  readonly message: string;
  /** Absent: it is unknown which server was asked. */
  readonly host?: string | undefined;
  readonly status?: number | undefined;
  readonly retryAfter?: string | undefined;
  readonly body?: string;
  readonly cause?: unknown;
}

function readCallError(error: unknown): CallError | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { name, url, statusCode, code, responseHeaders, responseBody, cause } = error as {
    readonly name?: unknown;
    readonly url?: string;
    readonly statusCode?: unknown;
    readonly code?: unknown;
    readonly responseHeaders?: Readonly<Record<string, string>>;
    readonly responseBody?: unknown;
    readonly cause?: unknown;
  };
  const status = [statusCode, code].find((value) => typeof value === "number");
  // The SDK's error is told by its name, since importing its class would load the whole SDK.
  if (name !== "AI_APICallError" && (error instanceof Error || status === undefined)) return undefined;
  return {
    message: messageOf(error),
    host: url === undefined ? undefined : URL.parse(url)?.host,
    status,
    retryAfter: responseHeaders === undefined ? undefined : readRetryAfter(responseHeaders),
    // Mostly the text, but some providers put the parsed document there.
    body: typeof responseBody === "string" ? responseBody : (writeExact(responseBody) ?? ""),
    cause,
  };
}

// Nothing was sent. After any other break the provider may be answering, and charging.
const NEVER_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;

function toUnreached({ message, host, cause }: CallError, { id }: FailedModel): Failed {
  const reason = codesOf(cause);
  const wasSent = !NEVER_SENT.test(reason);
  return toFailed("MODEL_UNREACHABLE", {
    message: `The provider of ${id} ${wasSent ? "broke off" : "cannot be reached"} (${reason || shorten(message)}).`,
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

function toRefusal(
  { message, host, retryAfter, body = "" }: CallError,
  { status, model: { id } }: { readonly status: number; readonly model: FailedModel },
): Failed {
  const [code, does, retryable] = meaningOf(status, `${message} ${body}`);
  const details: JsonObject = {
    status,
    ...(host === undefined ? {} : { host }),
    model: id,
    answer: shorten(body),
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
  };
  return toFailed(code, {
    message: `The provider of ${id} ${does} (${status}): ${shorten(message)}`,
    retryable,
    effect: "none",
    // An answer that cannot be read was still given.
    costMicro: status < 300 ? null : 0,
    details,
  });
}

// Anthropic, OpenAI, Google, vLLM and llama.cpp, each in its own words.
const TOO_LONG =
  /prompt is too long|context_length_exceeded|maximum context length|context window|input token count .*exceeds|exceeds? the (?:available |model'?s )?context|too many tokens/i;

/** What a status means, in words that follow "The provider", and whether it may pass. */
function meaningOf(status: number, said: string): readonly [code: ErrorCode, does: string, retryable: boolean] {
  if ([400, 413, 422].includes(status) && TOO_LONG.test(said))
    return ["MODEL_CONTEXT_TOO_LONG", "cannot read a conversation of this length", false];
  if (status === 401 || status === 403) return ["MODEL_UNAUTHORIZED", "refused the key", false];
  if (status === 429) return ["MODEL_RATE_LIMITED", "asks for fewer requests", true];
  if (status === 408 || status === 409 || status >= 500) return ["MODEL_UNAVAILABLE", "failed", true];
  if (status < 300) return ["MODEL_UNAVAILABLE", "sent an answer that cannot be read", true];
  if (status < 400) return ["MODEL_REFUSED", "sends requests elsewhere; set `base_url` to where it is", false];
  return ["MODEL_REFUSED", "refused the request", false];
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
