import type { ErrorCode } from "../../../core/errors/error-table.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { Failed } from "../../../ports/executor.ts";
import type { Model } from "../../models/create-models.ts";
import type { ModelTurn } from "../../models/stream-turn.ts";
import { toFailed } from "../../output/failure.ts";
import { readAnswer } from "../../output/read-answer.ts";
import type { Validate } from "../../output/schema-validators.ts";
import type { AgentRequest } from "./agent-request.ts";
import { finalText } from "./final-text.ts";
import { toBlocks } from "./to-blocks.ts";

export type Final =
  | { readonly ok: true; readonly output: Json }
  /** `violations`: what the model can be told. */
  | { readonly ok: false; readonly failed: Failed; readonly violations?: readonly string[] };

const MAX_SHOWN_CHARS = 2_000;
const MAX_TOLD_VIOLATIONS = 10;

/** Whether the last word of an agent is an answer, and which. */
export function readFinal(
  { parts, ended }: ModelTurn,
  {
    request,
    validate,
    model,
  }: { readonly request: AgentRequest; readonly validate: Validate | undefined; readonly model: Model },
): Final {
  const text = finalText(parts);
  if (ended === "filtered")
    return refuse("MODEL_REFUSED", `The content filter of ${model.id} stopped the answer.`, text);
  if (text === undefined && validate === undefined && request.answersAs === "agent") {
    if (toBlocks(parts).length === 0)
      return refuse("AGENT_NO_RESPONSE", "The agent did not return a final response.", "", true);
    return request.needsText
      ? refuse("AGENT_NO_TEXT", "The agent's response has no text block.", "", true)
      : { ok: true, output: null };
  }
  const isCut = ended === "cut";
  if (validate === undefined && request.answersAs === "agent") return { ok: true, output: text ?? null };
  const answer = readAnswer({ text: text ?? "", structured: undefined }, validate);
  if (answer.ok && !(isCut && validate === undefined)) return answer;
  if (isCut) return refuse("OUTPUT_CUT", `The answer of ${model.id} was cut off at the token limit.`, text ?? "");
  if (answer.ok) return answer;
  const { code, message, details } = answer;
  const failed = toFailed(code, { message, details, retryable: true, effect: "none", costMicro: 0 });
  return code === "OUTPUT_EMPTY" ? { ok: false, failed } : { ok: false, failed, violations: listViolations(details) };
}

/** What the model is told when its answer does not fit. */
export function explainMisfit(violations: readonly string[]): string {
  const told = violations.slice(0, MAX_TOLD_VIOLATIONS).map((violation) => `- ${violation}`);
  return ["Your answer does not fit:", ...told, "Answer again, with the corrected answer and nothing else."].join("\n");
}

function refuse(code: ErrorCode, message: string, text: string | undefined, retryable = false): Final {
  const details = { answer: (text ?? "").slice(0, MAX_SHOWN_CHARS) };
  return { ok: false, failed: toFailed(code, { message, details, retryable, effect: "none", costMicro: 0 }) };
}

function listViolations(details: Json): readonly string[] {
  const errors: readonly Json[] = isJsonObject(details) && Array.isArray(details["errors"]) ? details["errors"] : [];
  return errors.flatMap((error) =>
    isJsonObject(error) ? [`${error["path"] || "the answer"} ${error["message"]}`] : [],
  );
}
