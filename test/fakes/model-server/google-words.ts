import { type ApiWords, inPieces, type SaidReply, usageOf } from "./model-reply.ts";

/** POST /v1beta/models/MODEL:generateContent, and :streamGenerateContent */
export const GOOGLE_WORDS: ApiWords = {
  toDocument: (reply) => toChunk(reply.text, reply),
  toEvents: (reply) => inPieces(reply.text).map((text) => ({ data: toChunk(text, reply) })),
  toError: (status, message) => ({ error: { code: status, message, status: "FAKE" } }),
};

function toChunk(text: string, reply: SaidReply) {
  const { input, output, cached } = usageOf(reply);
  const finishReason = reply.ended === "length" ? "MAX_TOKENS" : reply.ended === "filter" ? "SAFETY" : "STOP";
  return {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, finishReason }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      cachedContentTokenCount: cached,
      totalTokenCount: input + output,
    },
  };
}
