import { writeExact } from "../../../src/core/exact-json.ts";
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
      objectsIn(tool["functionDeclarations"]).map(({ name, description, parametersJsonSchema }) => ({
        name: String(name),
        description: textIn(description),
        schema: parametersJsonSchema ?? null,
      })),
    ),
  }),
  toDocument: (said) => toChunk([...thought(said), ...texts(said, [said.text]), ...said.calls.map(toPart(said))], said),
  // Arguments come whole here.
  toEvents: (said) => {
    const parts = [...thought(said), ...texts(said, inPieces(said.text)), ...said.calls.map(toPart(said))];
    const chunks = parts.length === 0 ? [[]] : parts.map((part) => [part]);
    return chunks.map((chunk, index) => ({ data: toChunk(chunk, said, index === chunks.length - 1) }));
  },
  toError: (status, message) => ({ error: { code: status, message, status: "FAKE" } }),
  toErrorEvent: (message) => ({ data: { error: { code: 503, message, status: "UNAVAILABLE" } } }),
};

function texts({ text }: Utterance, pieces: readonly string[]): readonly JsonObject[] {
  return text === "" ? [] : pieces.map((piece) => ({ text: piece }));
}

function thought({ thinking }: Utterance): readonly JsonObject[] {
  return thinking === undefined ? [] : [{ text: thinking, thought: true }];
}

/** The first call of a turn with thoughts is signed. */
function toPart({ thinking }: Utterance): (call: UtteredCall, index: number) => JsonObject {
  return (call, index) => ({
    functionCall: { name: call.name, args: parsedArguments(call) },
    ...(thinking !== undefined && index === 0 ? { thoughtSignature: "c2lnbmVk" } : {}),
  });
}

const FINISH_REASONS: Readonly<Record<Ended, string>> = {
  stop: "STOP",
  tools: "STOP",
  length: "MAX_TOKENS",
  filter: "SAFETY",
  pause: "STOP",
  full: "MAX_TOKENS",
};

function toChunk(parts: readonly JsonObject[], { ended, reason, usage }: Utterance, isLast = true): JsonObject {
  const finishReason = reason === undefined ? FINISH_REASONS[ended] : reason;
  const candidate = { index: 0, content: { role: "model", parts }, ...(isLast ? { finishReason } : {}) };
  if (usage === undefined) return { candidates: [candidate] };
  const { input, output, cached } = usage;
  return {
    candidates: [candidate],
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
      .map(({ name, response }) => ({ id: String(name), text: writeExact(response ?? null), isError: false })),
  };
}
