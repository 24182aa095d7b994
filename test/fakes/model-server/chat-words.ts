import type { JsonObject } from "../../../src/core/json.ts";
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
    const choice = { index: 0, message, finish_reason: FINISH_REASONS[said.ended] };
    return { ...start(model), object: "chat.completion", choices: [choice], usage: toUsage(said) };
  },
  toEvents(said, { model }) {
    const head = { ...start(model), object: "chat.completion.chunk" };
    const chunk = (delta: JsonObject, finish: string | null) => ({
      data: { ...head, choices: [{ index: 0, delta, finish_reason: finish }] },
    });
    return [
      chunk({ role: "assistant", content: "" }, null),
      ...inPieces(said.text).map((content) => chunk({ content }, null)),
      ...said.calls.flatMap((call, index) => callDeltas(call, index).map((delta) => chunk(delta, null))),
      chunk({}, FINISH_REASONS[said.ended]),
      { data: { ...head, choices: [], usage: toUsage(said) } },
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

const FINISH_REASONS: Readonly<Record<Ended, string>> = {
  stop: "stop",
  tools: "tool_calls",
  length: "length",
  filter: "content_filter",
};

function toUsage({ usage: { input, output, cached } }: Utterance) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
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
