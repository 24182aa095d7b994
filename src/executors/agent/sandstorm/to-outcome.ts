import { writeMicro } from "../../../core/amounts.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Failed, Outcome, Reservation } from "../../../ports/executor.ts";
import type { Validate } from "../../../schemas/json-schemas.ts";
import { toFailed, toInterrupted } from "../../output/failure.ts";
import { readAnswer } from "../../output/read-answer.ts";
import type { Conversation } from "./conversation.ts";
import type { SandstormDocument } from "./document-decoder.ts";
import type { CutOff } from "./request-timeouts.ts";

/** How the stream ended. */
export type Ending =
  | { readonly by: "eof" }
  | { readonly by: "us"; readonly cutOff: CutOff }
  | { readonly by: "break"; readonly reason: string }
  | { readonly by: "size" };

/** What the agent could spend. */
interface Allowed {
  readonly maxCostMicro: number | undefined;
  readonly loweredBy: Reservation["loweredBy"];
}

const MAX_WORDS_CHARS = 2_000;

/** A result that has arrived counts, however the stream ended after it: it is known and paid. */
export async function toOutcome(
  conversation: Conversation,
  ending: Ending,
  { validate, ...allowed }: { readonly validate: Validate | undefined } & Allowed,
): Promise<Outcome> {
  const { result, error } = conversation;
  // Both say so: either alone occurs on failures too.
  if (result !== undefined && result["subtype"] === "success" && !result["is_error"])
    return toAnswered(conversation, result, validate);
  if (result !== undefined) return toGivenUp(result, allowed);
  if (error !== undefined) {
    const message = `The agent failed: ${error.slice(0, MAX_WORDS_CHARS)}`;
    // Servers answer 200 before they look for a sandbox.
    if (!conversation.hasBegun && NO_PLACE.test(error)) {
      const details = { status: TOO_MANY_REQUESTS, answer: error.slice(0, MAX_WORDS_CHARS) };
      return toFailed("AGENT_FAILED", { message, retryable: true, effect: "none", details });
    }
    return toFailed("AGENT_FAILED", { message, retryable: true, effect: "unknown", isAnswered: true });
  }
  return toUnanswered(ending);
}

async function toAnswered(
  conversation: Conversation,
  result: SandstormDocument,
  validate: Validate | undefined,
): Promise<Outcome> {
  const spent = { costMicro: readCostMicro(result), usage: readUsage(result) };
  const text =
    typeof result["result"] === "string" && result["result"] !== "" ? result["result"] : conversation.lastMessage.text;
  const answer = await readAnswer({ text, structured: result["structured_output"] }, validate);
  if (answer.ok) return { status: "succeeded", output: answer.output, files: conversation.files, ...spent };
  const { code, message, details, retryable } = answer;
  return toFailed(code, { message, details, retryable, effect: "done", isAnswered: true, ...spent });
}

function toGivenUp(result: SandstormDocument, { maxCostMicro, loweredBy }: Allowed): Failed {
  const isSpent = isOutspent(result, maxCostMicro);
  return toFailed("AGENT_ERROR_RESULT", {
    message: `The agent gave up (${result["subtype"]}): ${describeFailure(result).slice(0, MAX_WORDS_CHARS)}${isSpent ? ` It may cost ${writeMicro(maxCostMicro ?? 0)} a try: raise the \`max_cost_usd\` of its step for more.` : ""}`,
    retryable: isWorthRetrying(result),
    effect: "done",
    isAnswered: true,
    costMicro: readCostMicro(result),
    usage: readUsage(result),
    details: {
      ...overloadOf(result),
      subtype: result["subtype"] ?? null,
      is_error: result["is_error"] ?? null,
      errors: listErrors(result).slice(0, 20),
    },
    ...(isSpent && loweredBy === "budget" ? { outspent: { goesOn: false } } : {}),
  });
}

/** Neither a result nor an error came. */
export function toUnanswered(ending: Ending): Failed {
  switch (ending.by) {
    case "eof":
      return toCut("The agent's answer ended without a result.");
    case "break":
      return toCut(`The agent's answer broke off (${ending.reason}).`);
    case "size": {
      const message = "The agent server sent a single event that is too large to be held.";
      return toFailed("OUTPUT_TOO_LARGE", { message, retryable: false, effect: "unknown" });
    }
    case "us":
      return ending.cutOff === "stopped" ? toInterrupted("unknown") : toIdle();
  }
}

function toCut(message: string): Failed {
  return toFailed("AGENT_STREAM_CUT", { message, retryable: true, effect: "unknown" });
}

function toIdle(): Failed {
  const message = "The agent server sent nothing for longer than the idle time-out.";
  return toFailed("AGENT_IDLE", { message, retryable: true, effect: "unknown" });
}

const USAGE_TOKENS = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
const USAGE_TOTALS = ["num_turns", "duration_ms", "duration_api_ms"];

const MAX_BUDGET = "error_max_budget_usd";

// Another try would end at the same limit and cost the same again.
const LIMIT_SUBTYPES: ReadonlySet<Json | undefined> = new Set(["error_max_turns", MAX_BUDGET]);

const TOO_MANY_REQUESTS = 429;

/** The server, or the sandboxes that it rents, can do no more at once. */
const NO_PLACE = /\b(?:429|529)\b|rate.?limit|too many requests|overloaded|concurrent/i;
const OVERLOADED = /\b(?:429|503|529)\b|rate.?limit|too many requests|overloaded/i;
const SERVER_ERROR = 500;

/** It has spent what it was allowed. One that has spent less has come to a limit of its server's own. */
function isOutspent(result: SandstormDocument, maxCostMicro: number | undefined): boolean {
  if (result["subtype"] !== MAX_BUDGET || maxCostMicro === undefined) return false;
  return (readCostMicro(result) ?? maxCostMicro) >= maxCostMicro;
}

/** Integer micro-dollars; null when the server did not say. */
function readCostMicro(result: SandstormDocument): number | null {
  const cost = result["total_cost_usd"];
  return typeof cost === "number" && cost >= 0 ? Math.round(cost * 1_000_000) : null;
}

function readUsage(result: SandstormDocument): JsonObject {
  const tokens = isJsonObject(result["usage"]) ? result["usage"] : {};
  return { ...pickNumbers(tokens, USAGE_TOKENS), ...pickNumbers(result, USAGE_TOTALS) };
}

/** The agent's own words about why it gave up. */
function describeFailure(result: SandstormDocument): string {
  const errors = listErrors(result).filter((error) => typeof error === "string");
  const said = typeof result["result"] === "string" ? result["result"] : "";
  const subtype = typeof result["subtype"] === "string" ? result["subtype"] : "no subtype";
  return errors.join("; ") || said || subtype;
}

function listErrors(result: SandstormDocument): readonly Json[] {
  return Array.isArray(result["errors"]) ? result["errors"] : [];
}

/** A run that broke may go better the next time. One that ended as it must, or was refused, will not. */
function isWorthRetrying(result: SandstormDocument): boolean {
  if (LIMIT_SUBTYPES.has(result["subtype"])) return false;
  if (result["subtype"] !== "success") return true;
  const status = result["api_error_status"];
  if (typeof status === "number") return status === TOO_MANY_REQUESTS || status >= SERVER_ERROR;
  return /overloaded|rate.?limit|\b(429|5\d\d)\b/i.test(describeFailure(result));
}

/** The agent's provider could do no more: in the form in which a refusal says it. */
function overloadOf(result: SandstormDocument): JsonObject {
  if (LIMIT_SUBTYPES.has(result["subtype"])) return {};
  const { api_error_status: status } = result;
  const answer = describeFailure(result).slice(0, MAX_WORDS_CHARS);
  if (typeof status === "number") return { status, answer };
  return OVERLOADED.test(answer) ? { status: TOO_MANY_REQUESTS, answer } : {};
}

function pickNumbers(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (typeof from[name] === "number" ? [[name, from[name]]] : [])));
}
