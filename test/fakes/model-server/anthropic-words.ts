import { type ApiWords, inPieces, type SaidReply, usageOf } from "./model-reply.ts";

/** POST /v1/messages */
export const ANTHROPIC_WORDS: ApiWords = {
  toDocument(reply, { model }) {
    const content = reply.text === "" ? [] : [{ type: "text", text: reply.text }];
    return { ...start(model), content, stop_reason: stopReason(reply), usage: toUsage(reply) };
  },
  toEvents(reply, { model }) {
    const { output_tokens: outputTokens, ...input } = toUsage(reply);
    const message = { ...start(model), content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } };
    const events = [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...inPieces(reply.text).map((text) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text },
      })),
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: stopReason(reply), stop_sequence: null },
        usage: { output_tokens: outputTokens },
      },
      { type: "message_stop" },
    ];
    return events.map((data) => ({ event: data.type, data }));
  },
  toError: (status, message) => ({ type: "error", error: { type: errorType(status), message } }),
};

function start(model: string) {
  return { id: "msg_fake", type: "message", role: "assistant", model, stop_sequence: null };
}

function stopReason({ ended }: SaidReply): string {
  if (ended === "length") return "max_tokens";
  return ended === "filter" ? "refusal" : "end_turn";
}

/** Here the input is what was neither read from the cache nor written to it. */
function toUsage(reply: SaidReply) {
  const { input, output, cached } = usageOf(reply);
  return {
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
  };
}

function errorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 429) return "rate_limit_error";
  return status === 529 ? "overloaded_error" : "invalid_request_error";
}
