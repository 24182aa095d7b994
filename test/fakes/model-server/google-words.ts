import type { JsonObject } from "../../../src/core/json.ts";
import {
  type ApiWords,
  type Ended,
  inPieces,
  parsedArguments,
  type Utterance,
  type UtteredCall,
} from "./model-reply.ts";
import { objectsIn, type ShownMessage, textIn } from "./shown.ts";

/** POST /v1beta/models/MODEL:generateContent, and :streamGenerateContent */
export const GOOGLE_WORDS: ApiWords = {
  toShown: (body) => ({
    system: objectsIn([body["systemInstruction"] ?? null])
      .map(({ parts }) => textIn(parts))
      .join(""),
    messages: objectsIn(body["contents"]).map(toMessage),
    tools: objectsIn(body["tools"]).flatMap((tool) =>
      objectsIn(tool["functionDeclarations"]).map(({ name, description, parameters }) => ({
        name: String(name),
        description: textIn(description),
        schema: parameters ?? null,
      })),
    ),
  }),
  toDocument: (said) => toChunk([...(said.text === "" ? [] : [{ text: said.text }]), ...said.calls.map(toPart)], said),
  toEvents: (said) => [
    ...inPieces(said.text).map((text) => ({ data: toChunk([{ text }], said) })),
    // Arguments come whole here.
    ...said.calls.map((call) => ({ data: toChunk([toPart(call)], said) })),
  ],
  toError: (status, message) => ({ error: { code: status, message, status: "FAKE" } }),
  toErrorEvent: (message) => ({ data: { error: { code: 503, message, status: "UNAVAILABLE" } } }),
};

function toPart(call: UtteredCall): JsonObject {
  return { functionCall: { name: call.name, args: parsedArguments(call) } };
}

const FINISH_REASONS: Readonly<Record<Ended, string>> = {
  stop: "STOP",
  tools: "STOP",
  length: "MAX_TOKENS",
  filter: "SAFETY",
};

function toChunk(parts: readonly JsonObject[], { ended, usage: { input, output, cached } }: Utterance) {
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason: FINISH_REASONS[ended] }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      cachedContentTokenCount: cached,
      totalTokenCount: input + output,
    },
  };
}

/** Calls have no id here: their name is all there is. */
function toMessage({ role, parts }: JsonObject): ShownMessage {
  const all = objectsIn(parts);
  return {
    by: role === "model" ? "model" : "user",
    text: textIn(all),
    calls: all
      .flatMap(({ functionCall }) => objectsIn([functionCall ?? null]))
      .map(({ name, args }) => ({ id: String(name), name: String(name), input: args ?? null })),
    results: all
      .flatMap(({ functionResponse }) => objectsIn([functionResponse ?? null]))
      .map(({ name, response }) => ({ id: String(name), text: JSON.stringify(response ?? null), isError: false })),
  };
}
