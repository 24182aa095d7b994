import { type ApiWords, inPieces, type SaidReply, usageOf } from "./model-reply.ts";

/** POST /v1/chat/completions */
export const CHAT_WORDS: ApiWords = {
  toDocument(reply, { model }) {
    const choice = {
      index: 0,
      message: { role: "assistant", content: reply.text },
      finish_reason: finishReason(reply),
    };
    return { ...start(model), object: "chat.completion", choices: [choice], usage: toUsage(reply) };
  },
  toEvents(reply, { model }) {
    const head = { ...start(model), object: "chat.completion.chunk" };
    const chunk = (delta: { role?: string; content?: string }, finish: string | null) => ({
      data: { ...head, choices: [{ index: 0, delta, finish_reason: finish }] },
    });
    return [
      chunk({ role: "assistant", content: "" }, null),
      ...inPieces(reply.text).map((content) => chunk({ content }, null)),
      chunk({}, finishReason(reply)),
      { data: { ...head, choices: [], usage: toUsage(reply) } },
    ];
  },
  toError: (status, message) => ({ error: { message, type: "fake_error", param: null, code: String(status) } }),
};

function start(model: string) {
  return { id: "chatcmpl-fake", created: 1_700_000_000, model };
}

function finishReason({ ended }: SaidReply): string {
  return ended === "filter" ? "content_filter" : (ended ?? "stop");
}

function toUsage(reply: SaidReply) {
  const { input, output, cached } = usageOf(reply);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
