import { writeExact } from "../../../src/core/exact-json.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  type ApiWords,
  type Ended,
  inPieces,
  parsedArguments,
  type StreamEvent,
  type Utterance,
  type UtteredCall,
} from "./model-reply.ts";
import { objectsIn, type ShownMessage, textIn } from "./shown.ts";

/** POST /v1/messages */
export const ANTHROPIC_WORDS: ApiWords = {
  toShown: (body) => ({
    system: textIn(body["system"]),
    messages: objectsIn(body["messages"]).map(toMessage),
    tools: objectsIn(body["tools"]).map((tool) => ({
      name: String(tool["name"]),
      description: textIn(tool["description"]),
      schema: tool["input_schema"] ?? null,
    })),
  }),
  toDocument(said, { model }) {
    const content = [
      ...thinkingBlock(said),
      ...searchBlocks(said),
      ...(said.text === "" ? [] : [{ type: "text", text: said.text }]),
      ...said.calls.map((call) => ({ ...toToolUse(call), input: parsedArguments(call) })),
    ];
    return { ...start(model), content, stop_reason: stopReason(said), ...toUsage(said) };
  },
  toEvents(said, { model }) {
    const message = { ...start(model), content: [], stop_reason: null, ...toUsage(said, 1) };
    const [asked, found] = searchBlocks(said);
    const blocks = [
      ...thinkingBlock(said).map(thoughtEvents),
      ...(asked === undefined ? [] : [inputBlock({ ...asked, input: {} }, writeExact(asked["input"]))]),
      ...(found === undefined ? [] : [[{ type: "content_block_start", content_block: found }, STOP]]),
      // A text of nothing is still begun, unless tools are called without a word.
      ...(said.text === "" && said.calls.length > 0 ? [] : [textBlock(said.text)]),
      ...said.calls.map(toolBlock),
    ];
    return [
      named({ type: "message_start", message }),
      named({ type: "ping" }),
      ...blocks.flatMap((events, index) => events.map((event) => named({ ...event, index }))),
      named({
        type: "message_delta",
        delta: { stop_reason: stopReason(said), stop_sequence: null },
        ...(said.usage === undefined ? {} : { usage: { output_tokens: said.usage.output } }),
      }),
      named({ type: "message_stop" }),
    ];
  },
  toError: (status, message) => ({ type: "error", error: { type: errorType(status), message } }),
  toErrorEvent: (message) => named({ type: "error", error: { type: "overloaded_error", message } }),
};

type Event = JsonObject & { readonly type: string };

function textBlock(text: string): readonly Event[] {
  return [
    { type: "content_block_start", content_block: { type: "text", text: "" } },
    ...inPieces(text).map((piece) => ({ type: "content_block_delta", delta: { type: "text_delta", text: piece } })),
    { type: "content_block_stop" },
  ];
}

function toolBlock(call: UtteredCall): readonly Event[] {
  return inputBlock({ ...toToolUse(call), input: {} }, call.json);
}

/** The arguments come as pieces of JSON, of which the first is empty. */
function inputBlock(block: JsonObject, json: string): readonly Event[] {
  return [
    { type: "content_block_start", content_block: block },
    ...["", ...inPieces(json)].map((piece) => ({
      type: "content_block_delta",
      delta: { type: "input_json_delta", partial_json: piece },
    })),
    STOP,
  ];
}

const STOP: Event = { type: "content_block_stop" };

/** Signed, as thoughts must be when they come back. */
function thinkingBlock({ thinking }: Utterance): readonly JsonObject[] {
  return thinking === undefined ? [] : [{ type: "thinking", thinking, signature: SIGNATURE }];
}

export const SIGNATURE = "c2lnbmVk";

function thoughtEvents({ thinking }: JsonObject): readonly Event[] {
  return [
    { type: "content_block_start", content_block: { type: "thinking", thinking: "" } },
    { type: "content_block_delta", delta: { type: "thinking_delta", thinking: String(thinking) } },
    { type: "content_block_delta", delta: { type: "signature_delta", signature: SIGNATURE } },
    STOP,
  ];
}

/** What is asked of the web, and what was found: none where nothing is searched for. */
function searchBlocks({ search }: Utterance): readonly JsonObject[] {
  if (search === undefined) return [];
  const id = "srvtoolu_fake";
  return [
    { type: "server_tool_use", id, name: "web_search", input: { query: search.query } },
    {
      type: "web_search_tool_result",
      tool_use_id: id,
      content: search.found.map(({ url, title }) => ({
        type: "web_search_result",
        url,
        title,
        page_age: null,
        encrypted_content: "c2VjcmV0",
      })),
    },
  ];
}

function toToolUse({ id, name }: UtteredCall) {
  return { type: "tool_use", id, name };
}

function named(data: Event): StreamEvent {
  return { event: data.type, data };
}

function start(model: string) {
  return { id: "msg_fake", type: "message", role: "assistant", model, stop_sequence: null };
}

function stopReason({ ended, reason }: Utterance): string | null {
  return reason === undefined ? STOP_REASONS[ended] : reason;
}

const STOP_REASONS: Readonly<Record<Ended, string>> = {
  stop: "end_turn",
  tools: "tool_use",
  length: "max_tokens",
  filter: "refusal",
  pause: "pause_turn",
  full: "model_context_window_exceeded",
};

/** Here the input is what was neither read from the cache nor written to it. */
function toUsage({ usage }: Utterance, output = usage?.output ?? 0): JsonObject {
  if (usage === undefined) return {};
  const { input, cached } = usage;
  return {
    usage: {
      input_tokens: input - cached,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: 0,
      output_tokens: output,
    },
  };
}

function errorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 429) return "rate_limit_error";
  if (status === 529) return "overloaded_error";
  return status >= 500 ? "api_error" : "invalid_request_error";
}

function toMessage({ role, content }: JsonObject): ShownMessage {
  const blocks = objectsIn(content);
  return {
    by: role === "assistant" ? "model" : "user",
    text: typeof content === "string" ? content : textIn(blocks.filter(({ type }) => type === "text")),
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id: String(id), name: String(name), input: input ?? null })),
    results: blocks
      .filter(({ type }) => type === "tool_result")
      .map((block) => ({
        id: String(block["tool_use_id"]),
        text: textIn(block["content"]),
        isError: block["is_error"] === true,
      })),
  };
}
