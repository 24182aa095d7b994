import { isJsonObject, type Json } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import type { Failed } from "../../../ports/executor.ts";
import { toFailed } from "../../output/failure.ts";
import type { Server } from "./choose-server.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly location?: string | undefined;
  readonly retryAfter?: string | undefined;
  readonly body: string;
}

const MAX_SHOWN_CHARS = 2_000;

/** Unavailable for the moment, overloaded: the request was not taken. */
const UNDONE: ReadonlySet<number> = new Set([503, 529]);

/** Turns an HTTP status other than 200 into a failure of the attempt. */
export function toRefusal(answer: HttpAnswer, server: Server): Failed {
  const { status } = answer;
  const reason = readReason(answer);
  const details = {
    status,
    answer: reason,
    ...(answer.retryAfter !== undefined && { retry_after: answer.retryAfter }),
  };
  const who = `The agent server at ${server.shownUrl}`;

  if (status === 401 || status === 403) {
    const message = `${who} answered ${status}: ${reason}${server.keysWithheld ? KEYS_WITHHELD : ""}`;
    return toFailed("AGENT_UNAUTHORIZED", { message, retryable: false, effect: "none", details });
  }
  if (status >= 500) {
    const message = `${who} failed with ${status}: ${reason}`;
    const effect = UNDONE.has(status) ? "none" : "unknown";
    return toFailed("AGENT_FAILED", { message, retryable: true, effect, details });
  }
  const message = `${who} refused the request with ${status}: ${reason}${server.keysWithheld ? KEYS_WITHHELD : ""}`;
  return toFailed("AGENT_REFUSED", { message, retryable: status === 429, effect: "none", details });
}

const KEYS_WITHHELD = " (The definition names another server than the configured one, so no keys were sent to it.)";

/** The server's words, without the request that a validation error repeats. */
function readReason(answer: HttpAnswer): string {
  if (answer.location !== undefined) return `it redirects to ${answer.location}, which is not followed`;
  const body = parseJson(answer.body);
  const detail = isJsonObject(body) ? (body["detail"] ?? body["error"] ?? body["message"]) : undefined;
  const text = describeDetail(detail) ?? answer.body.trim();
  return text === "" ? "no reason given" : text.slice(0, MAX_SHOWN_CHARS);
}

function describeDetail(detail: Json | undefined): string | undefined {
  if (typeof detail === "string") return detail;
  if (!Array.isArray(detail)) return undefined;
  const problems: readonly Json[] = detail;
  return problems
    .flatMap((problem) => (isJsonObject(problem) ? [describeProblem(problem["loc"], problem["msg"])] : []))
    .join("; ");
}

function describeProblem(place: Json | undefined, message: Json | undefined): string {
  const words = typeof message === "string" ? message : "not valid";
  return Array.isArray(place) ? `${place.join(".")}: ${words}` : words;
}
