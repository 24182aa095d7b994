import { isJsonObject, type Json } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";

/** Headers of an answer, their names in small letters. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A server has refused a call for lack of capacity. */
export interface Throttle {
  /** It has done nothing, so that the call can be sent again. */
  readonly isUndone: boolean;
  readonly retryAfterMs: number | undefined;
}

/** Too many requests, unavailable for the moment, overloaded (Anthropic). */
const REFUSING: ReadonlySet<Json | undefined> = new Set([429, 503, 529]);

/** With these words a provider says that waiting does not help: the account has no credit left. */
const OUT_OF_CREDIT = /insufficient_quota|billing|credit balance/i;

/** Undefined: the answer says nothing about capacity. `details` of such failures hold `status`, `answer` and `retry_after`. */
export function readThrottle({ costMicro, details, effect }: Failed, now: number): Throttle | undefined {
  const { status, answer, retry_after: retryAfter } = isJsonObject(details) ? details : {};
  if (!REFUSING.has(status) || (typeof answer === "string" && OUT_OF_CREDIT.test(answer))) return undefined;
  return { isUndone: costMicro === 0 && effect === "none", retryAfterMs: readRetryAfterMs(retryAfter, now) };
}

/** Seconds, or a date. Absent, or nonsense: undefined. */
export function readRetryAfterMs(after: Json | undefined, now: number): number | undefined {
  if (typeof after !== "string") return undefined;
  const seconds = Number(after);
  const delayMs = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(after) - now;
  return Number.isFinite(delayMs) ? Math.max(0, delayMs) : undefined;
}

/** The `Retry-After` of a refusal, in seconds or as a date. Some providers name milliseconds beside it. */
export function readRetryAfter(headers: AnswerHeaders): string | undefined {
  const ms = textOf(headers["retry-after-ms"]);
  if (ms !== undefined && ms !== "" && Number.isFinite(Number(ms))) return String(Number(ms) / 1_000);
  return textOf(headers["retry-after"]);
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return (typeof header === "string" ? header : header?.[0])?.trim();
}
