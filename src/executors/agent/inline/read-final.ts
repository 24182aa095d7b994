import type { ErrorCode } from "../../../core/errors/error-table.ts";
import type { Json } from "../../../core/json.ts";
import type { Failed } from "../../../ports/executor.ts";
import type { Validate } from "../../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../../schemas/schema-compiler.ts";
import type { Model } from "../../models/create-models.ts";
import type { ModelTurn } from "../../models/model-turn.ts";
import { toEndFailure } from "../../models/turn-end.ts";
import { toFailed } from "../../output/failure.ts";
import { readAnswer } from "../../output/read-answer.ts";
import { listViolations } from "../../output/violations.ts";
import type { AgentRequest } from "./agent-request.ts";
import { finalText, toBlocks } from "./to-blocks.ts";

export type Final =
  | { readonly ok: true; readonly output: Json }
  /** `objection`: what the model can be told, to mend it. */
  | { readonly ok: false; readonly failed: Failed; readonly objection?: string | undefined };

interface Reading {
  readonly request: AgentRequest;
  readonly validate: Validate | undefined;
  readonly model: Model;
}

/** Reads the agent's answer from its last turn. */
export async function readFinal(said: ModelTurn, { request, validate, model }: Reading): Promise<Final> {
  const text = finalText(said.parts);
  if (said.ended !== "done") {
    const failed = toEndFailure(said, model.id, text ?? "");
    return { ok: false, failed, objection: said.ended === "miscalled" ? MISCALLED : undefined };
  }
  if (validate === undefined && request.answersAs === "agent") {
    if (text !== undefined) return { ok: true, output: text };
    if (toBlocks(said.parts).length === 0)
      return refuse("AGENT_NO_RESPONSE", "The agent did not return a final response.");
    return request.needsText
      ? refuse("AGENT_NO_TEXT", "The agent's response has no text block.")
      : { ok: true, output: null };
  }
  const answer = await readAnswer({ text: text ?? "", structured: undefined }, validate);
  if (answer.ok) return answer;
  const { code, message, details, retryable, violations } = answer;
  const failed = toFailed(code, { message, details, retryable, effect: "none" });
  return { ok: false, failed, objection: violations === undefined ? undefined : explainMisfit(violations) };
}

const MISCALLED =
  "The tool call in your last turn could not be read, so nothing was done. Call the tool again, with arguments that fit its schema.";

function explainMisfit(violations: readonly SchemaViolation[]): string {
  const listed = listViolations(violations, "the answer");
  return `Your answer does not fit:\n${listed}\nAnswer again, with the corrected answer and nothing else.`;
}

function refuse(code: ErrorCode, message: string): Final {
  return { ok: false, failed: toFailed(code, { message, retryable: true, effect: "none" }) };
}
