import type { ErrorCode } from "../../../core/errors/error-table.ts";
import type { Json } from "../../../core/json.ts";
import type { Failed } from "../../../ports/executor.ts";
import type { Validate } from "../../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../../schemas/schema-compiler.ts";
import type { Model } from "../../models/create-models.ts";
import type { ModelTurn } from "../../models/stream-turn.ts";
import { toFailed } from "../../output/failure.ts";
import { readAnswer } from "../../output/read-answer.ts";
import { listViolations } from "../../output/violations.ts";
import type { AgentRequest } from "./agent-request.ts";
import { finalText, toBlocks } from "./to-blocks.ts";

export type Final =
  | { readonly ok: true; readonly output: Json }
  /** `violations`: what the model can be told. */
  | { readonly ok: false; readonly failed: Failed; readonly violations?: readonly SchemaViolation[] };

const MAX_SHOWN_CHARS = 2_000;

/** Reads the agent's answer from its last turn. */
export async function readFinal(
  { parts, ended }: ModelTurn,
  {
    request,
    validate,
    model,
  }: { readonly request: AgentRequest; readonly validate: Validate | undefined; readonly model: Model },
): Promise<Final> {
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
  const answer = await readAnswer({ text: text ?? "", structured: undefined }, validate);
  if (answer.ok && !(isCut && validate === undefined)) return answer;
  if (isCut) return refuse("OUTPUT_CUT", `The answer of ${model.id} was cut off at the token limit.`, text ?? "");
  if (answer.ok) return answer;
  const { code, message, details, retryable, violations } = answer;
  const failed = toFailed(code, { message, details, retryable, effect: "none", costMicro: 0 });
  return { ok: false, failed, violations };
}

/** The message to the model when its answer does not fit. */
export function explainMisfit(violations: readonly SchemaViolation[]): string {
  const listed = listViolations(violations, "the answer");
  return `Your answer does not fit:\n${listed}\nAnswer again, with the corrected answer and nothing else.`;
}

function refuse(code: ErrorCode, message: string, text: string | undefined, retryable = false): Final {
  const details = { answer: (text ?? "").slice(0, MAX_SHOWN_CHARS) };
  return { ok: false, failed: toFailed(code, { message, details, retryable, effect: "none", costMicro: 0 }) };
}
