import { type ApiWords, inPieces, type SaidReply, usageOf } from "./model-reply.ts";

/** POST /v1/responses */
export const RESPONSES_WORDS: ApiWords = {
  toDocument: (reply, { model }) => toResponse(reply, model),
  toEvents(reply, { model }) {
    const whole = toResponse(reply, model);
    const item = { type: "message", id: "msg_fake", role: "assistant" };
    const place = { item_id: item.id, output_index: 0, content_index: 0 };
    const events = [
      { type: "response.created", response: { id: whole.id, created_at: whole.created_at, model } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      ...inPieces(reply.text).map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
      { type: "response.output_item.done", output_index: 0, item: whole.output[0] ?? item },
      { type: reply.ended === undefined ? "response.completed" : "response.incomplete", response: whole },
    ];
    return events.map((data) => ({ event: data.type, data }));
  },
  toError: (status, message) => ({ error: { message, type: "fake_error", param: null, code: String(status) } }),
};

function toResponse(reply: SaidReply, model: string) {
  const { input, output, cached } = usageOf(reply);
  const reason =
    reply.ended === "length" ? "max_output_tokens" : reply.ended === "filter" ? "content_filter" : undefined;
  return {
    id: "resp_fake",
    object: "response",
    created_at: 1_700_000_000,
    model,
    status: reason === undefined ? "completed" : "incomplete",
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output: [
      {
        type: "message",
        id: "msg_fake",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: reply.text, annotations: [] }],
      },
    ],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}
