import { isJsonObject, type Json } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";

/** What an answer says about the capacity of the server. */
export type Throttle =
  /** It has done nothing: the call can be sent again later. */
  | { readonly is: "refused"; readonly retryAfterMs: number | undefined }
  /** The call has failed for good, since the server could not keep up. */
  | { readonly is: "overloaded" };

/** Too many requests, unavailable for the moment, overloaded (Anthropic). */
const REFUSING: ReadonlySet<Json | undefined> = new Set([429, 503, 529]);
const GATEWAY_TIMEOUT = 504;
const TIME_OUTS: ReadonlySet<string> = new Set(["TIMEOUT", "AGENT_IDLE"]);

/** With these words a provider says that waiting does not help: the account has no credit left. */
const OUT_OF_CREDIT = /insufficient_quota|billing|credit balance/i;

/** Undefined: the answer says nothing about capacity. `details` of such failures hold `status`, `answer` and `retry_after`. */
export function readThrottle({ code, costMicro, details, effect }: Failed, now: number): Throttle | undefined {
  const { status, answer, retry_after: retryAfter } = isJsonObject(details) ? details : {};
  if (typeof answer === "string" && OUT_OF_CREDIT.test(answer)) return undefined;
  if (REFUSING.has(status)) {
    const isUndone = costMicro === 0 && effect === "none";
    return isUndone ? { is: "refused", retryAfterMs: readRetryAfterMs(retryAfter, now) } : { is: "overloaded" };
  }
  return TIME_OUTS.has(code) || status === GATEWAY_TIMEOUT ? { is: "overloaded" } : undefined;
}

/** Seconds, or a date. Absent, or nonsense: undefined. */
export function readRetryAfterMs(after: Json | undefined, now: number): number | undefined {
  if (typeof after !== "string") return undefined;
  const seconds = Number(after);
  const delayMs = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(after) - now;
  return Number.isFinite(delayMs) ? Math.max(0, delayMs) : undefined;
}
