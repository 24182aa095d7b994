import type { Json, JsonObject } from "../../../core/json.ts";
import type { Outcome } from "../../../ports/executor.ts";
import type { ModelTurn } from "../../models/model-turn.ts";
import { endName } from "../../models/turn-end.ts";
import type { Conversed, ReadyAgent } from "./converse.ts";
import { finalText, toBlocks, toMessages } from "./to-blocks.ts";
import type { Transcript } from "./transcript.ts";

/** The output of an agent of an agents file: its answer and the whole conversation. */
export function toAgentOutput(
  last: ModelTurn,
  transcript: Transcript,
  /** `structured`: the value that was asked for with a schema. */
  { usage, structured }: { readonly usage: JsonObject; readonly structured: Json | undefined },
): JsonObject {
  return {
    text: finalText(last.parts) ?? null,
    final_response: {
      role: "assistant",
      content: toBlocks(last.parts),
      stop_reason: endName(last),
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

type Answered = Extract<Conversed, { readonly ok: true }>;

/** The step's output, in the form that its dialect reads. */
export function toOutcome({ answer, transcript, spending }: Answered, { request, task }: ReadyAgent): Outcome {
  const { costMicro } = spending;
  const usage = { ...spending.usage, num_turns: transcript.turns.length };
  task.emit({
    type: "log",
    event: {
      type: "result",
      subtype: "success",
      is_error: false,
      result: finalText(answer.turn.parts) ?? null,
      num_turns: transcript.turns.length,
      ...(costMicro === null ? {} : { total_cost_usd: costMicro / 1_000_000 }),
      usage,
    },
  });
  const { output: value } = answer;
  const structured = request.schema === undefined ? undefined : value;
  const output = request.answersAs === "step" ? value : toAgentOutput(answer.turn, transcript, { usage, structured });
  return { status: "succeeded", output, costMicro, usage, ...(answer.repaired ? { repaired: true } : {}) };
}
