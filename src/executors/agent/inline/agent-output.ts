import type { Json, JsonObject } from "../../../core/json.ts";
import type { ModelTurn } from "../../models/stream-turn.ts";
import { finalText } from "./final-text.ts";
import { toBlocks, toMessages, toStopReason } from "./to-blocks.ts";
import type { Transcript } from "./transcript.ts";

interface Told {
  readonly transcript: Transcript;
  readonly usage: JsonObject;
  /** The value that was asked for with a schema. */
  readonly structured: Json | undefined;
}

/** What an agent of an agents file has answered, with the whole way to it. */
export function toAgentOutput(last: ModelTurn, { transcript, usage, structured }: Told): JsonObject {
  return {
    text: finalText(last.parts) ?? null,
    final_response: {
      role: "assistant",
      content: toBlocks(last.parts),
      stop_reason: toStopReason(last.ended),
      model: last.model,
      usage,
    },
    conversation: toMessages(transcript),
    tool_uses: transcript.turns.flatMap(({ results }) => {
      return results.map(({ call, text, isError, server, edited }) => ({
        id: call.id,
        name: call.name,
        ...(server === undefined ? {} : { server }),
        input: edited ?? call.input,
        output: text,
        is_error: isError,
      }));
    }),
    ...(structured === undefined ? {} : { structured }),
  };
}
