import type { Json, JsonObject } from "../../../core/json.ts";
import type { Spending } from "../../models/mock/simulate-answer.ts";

/** A finished answer as the documents that a Sandstorm server would send for it. */
export interface ToldAnswer {
  readonly text: string;
  readonly structured: Json | undefined;
  readonly model: string;
  readonly sessionId: string;
  readonly durationMs: number;
  readonly spent: Spending;
}

export function toConversation(answer: ToldAnswer): readonly [JsonObject, JsonObject, JsonObject] {
  const { sessionId, model, spent } = answer;
  const content = [{ type: "text", text: answer.text }];
  return [
    { type: "system", subtype: "init", session_id: sessionId, model, tools: [], mcp_servers: [] },
    {
      type: "assistant",
      message: { id: `msg_${sessionId}`, type: "message", role: "assistant", model, content },
      parent_tool_use_id: null,
      session_id: sessionId,
    },
    {
      type: "result",
      subtype: "success",
      is_error: false,
      result: answer.text,
      ...(answer.structured !== undefined && { structured_output: answer.structured }),
      ...(spent.costMicro !== null && { total_cost_usd: spent.costMicro / 1_000_000 }),
      num_turns: spent.turns,
      duration_ms: answer.durationMs,
      usage: spent.usage,
      session_id: sessionId,
    },
  ];
}
