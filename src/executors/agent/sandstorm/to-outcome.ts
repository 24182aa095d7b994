import type { Failed, Outcome } from "../../../ports/executor.ts";
import { toFailed, toInterrupted } from "../../output/failure.ts";
import { readAnswer } from "../../output/read-answer.ts";
import type { Validate } from "../../output/schema-validators.ts";
import type { Conversation } from "./conversation.ts";
import type { SandstormDocument } from "./document-decoder.ts";
import type { CutOff } from "./life-watch.ts";
import {
  describeFailure,
  isOutspent,
  isSuccess,
  isWorthRetrying,
  listErrors,
  readCostMicro,
  readUsage,
} from "./result-message.ts";

/** How the stream ended. */
export type Ending =
  | { readonly by: "eof" }
  | { readonly by: "us"; readonly cutOff: CutOff }
  | { readonly by: "break"; readonly reason: string }
  | { readonly by: "size" };

const MAX_WORDS_CHARS = 2_000;

/** A result that has arrived counts, however the stream ended after it: it is known and paid. */
export function toOutcome(
  conversation: Conversation,
  ending: Ending,
  { validate, maxCostMicro }: { readonly validate: Validate | undefined; readonly maxCostMicro: number | undefined },
): Outcome {
  const { result, error } = conversation;
  if (result !== undefined && isSuccess(result)) return toAnswered(conversation, result, validate);
  if (result !== undefined) return toGivenUp(result, maxCostMicro);
  if (error !== undefined) {
    const message = `The agent failed: ${error.slice(0, MAX_WORDS_CHARS)}`;
    return toFailed("AGENT_FAILED", { message, retryable: true, effect: "unknown" });
  }
  return toUnanswered(ending);
}

function toAnswered(conversation: Conversation, result: SandstormDocument, validate: Validate | undefined): Outcome {
  const spent = { costMicro: readCostMicro(result), usage: readUsage(result) };
  const text =
    typeof result["result"] === "string" && result["result"] !== "" ? result["result"] : conversation.lastMessage.text;
  const answer = readAnswer({ text, structured: result["structured_output"] }, validate);
  if (answer.ok) return { status: "succeeded", output: answer.output, files: conversation.files, ...spent };
  const { code, message, details } = answer;
  return toFailed(code, { message, details, retryable: true, effect: "done", ...spent });
}

function toGivenUp(result: SandstormDocument, maxCostMicro: number | undefined): Failed {
  return toFailed("AGENT_ERROR_RESULT", {
    message: `The agent gave up (${result["subtype"]}): ${describeFailure(result).slice(0, MAX_WORDS_CHARS)}`,
    retryable: isWorthRetrying(result),
    effect: "done",
    costMicro: readCostMicro(result),
    usage: readUsage(result),
    details: {
      subtype: result["subtype"] ?? null,
      is_error: result["is_error"] ?? null,
      errors: listErrors(result).slice(0, 20),
    },
    ...(isOutspent(result, maxCostMicro) ? { outspent: { goesOn: false } } : {}),
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
