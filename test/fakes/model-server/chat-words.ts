import { isJsonObject, type JsonObject } from "../../../src/core/json.ts";
import { type ApiWords, type Ended, inPieces, type Utterance, type UtteredCall } from "./model-reply.ts";
import { objectsIn, parsedOr, type ShownMessage, type ShownTool, textIn } from "./shown.ts";

/** POST /v1/chat/completions */
export const CHAT_WORDS: ApiWords = {
  toShown(body) {
    const messages = objectsIn(body["messages"]);
    const isSystem = ({ role }: JsonObject) => role === "system" || role === "developer";
    return {
      system: messages
        .filter(isSystem)
        .map(({ content }) => textIn(content))
        .join("\n"),
      messages: messages.filter((message) => !isSystem(message)).map(toMessage),
      tools: objectsIn(body["tools"]).flatMap((tool) => objectsIn([tool["function"] ?? null]).map(toTool)),
    };
  },
  toDocument(said, { model }) {
    const calls = said.calls.map(({ id, name, json }) => ({
      id,
      type: "function",
      function: { name, arguments: json },
    }));
    const message = {
      role: "assistant",
      content: said.text === "" && calls.length > 0 ? null : said.text,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const choice = { index: 0, message, finish_reason: finishReason(said) };
    return { ...start(model), object: "chat.completion", choices: [choice], ...toUsage(said) };
  },
  toEvents(said, { model, body }) {
    const head = { ...start(model), object: "chat.completion.chunk" };
    const chunk = (delta: JsonObject, finish: string | null) => ({
      data: { ...head, choices: [{ index: 0, delta, finish_reason: finish }] },
    });
    return [
      chunk({ role: "assistant", content: "" }, null),
      ...(said.thinking === undefined ? [] : [chunk({ reasoning_content: said.thinking }, null)]),
      ...inPieces(said.text).map((content) => chunk({ content }, null)),
      ...said.calls.flatMap((call, index) => callDeltas(call, index).map((delta) => chunk(delta, null))),
      chunk({}, finishReason(said)),
      // Servers tell it only to those who ask.
      ...(isJsonObject(body["stream_options"]) && said.usage !== undefined
        ? [{ data: { ...head, choices: [], ...toUsage(said) } }]
        : []),
    ];
  },
  toError: (status, message) => ({ error: { message, type: "fake_error", param: null, code: String(status) } }),
  toErrorEvent: (message) => ({ data: { error: { message, type: "server_error", param: null, code: "503" } } }),
};

/** The first names the tool, the others carry pieces of its arguments. */
function callDeltas({ id, name, json }: UtteredCall, index: number): readonly JsonObject[] {
  return [
    { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
    ...inPieces(json).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

function start(model: string) {
  return { id: "chatcmpl-fake", created: 1_700_000_000, model };
}

function finishReason({ ended, reason }: Utterance): string | null {
  return reason === undefined ? FINISH_REASONS[ended] : reason;
}

const FINISH_REASONS: Readonly<Record<Ended, string>> = {
  stop: "stop",
  tools: "tool_calls",
  length: "length",
  filter: "content_filter",
  pause: "stop",
  full: "length",
};

function toUsage({ usage }: Utterance): JsonObject {
  if (usage === undefined) return {};
  const { input, output, cached } = usage;
  return {
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    },
  };
}

function toMessage(message: JsonObject): ShownMessage {
  const { role, content } = message;
  const text = textIn(content);
  if (role === "tool") {
    return {
      by: "user",
      text: "",
      calls: [],
      results: [{ id: String(message["tool_call_id"]), text, isError: false }],
    };
  }
  const calls = objectsIn(message["tool_calls"]).flatMap(({ id, function: called }) =>
    objectsIn([called ?? null]).map((each) => ({
      id: String(id),
      name: String(each["name"]),
      input: parsedOr(each["arguments"]),
    })),
  );
  return { by: role === "assistant" ? "model" : "user", text, calls, results: [] };
}

function toTool(tool: JsonObject): ShownTool {
  return { name: String(tool["name"]), description: textIn(tool["description"]), schema: tool["parameters"] ?? null };
}
