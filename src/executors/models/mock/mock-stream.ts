import type { GenerateResult, StreamPart } from "../language-model.ts";

const WORDS = /\S+\s*|\s+/g;

/** An answer as it would come over a stream: word by word. */
export function toStream({
  content,
  finishReason,
  usage,
  providerMetadata,
  warnings,
}: GenerateResult): ReadableStream<StreamPart> {
  return ReadableStream.from(
    (function* (): Generator<StreamPart> {
      yield { type: "stream-start", warnings };
      for (const [index, part] of content.entries()) {
        const id = String(index);
        if (part.type === "tool-call") yield part;
        if (part.type !== "text") continue;
        yield { type: "text-start", id };
        for (const [delta] of part.text.matchAll(WORDS)) yield { type: "text-delta", id, delta };
        yield { type: "text-end", id };
      }
      yield { type: "finish", finishReason, usage, providerMetadata };
    })(),
  );
}
