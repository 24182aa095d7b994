import type { JsonObject } from "../../../src/core/json.ts";
import {
  type ApiWords,
  inPieces,
  type SaidSearch,
  type StreamEvent,
  type Utterance,
  type UtteredCall,
} from "./model-reply.ts";
import { objectsIn, parsedOr, type ShownMessage, textIn } from "./shown.ts";

/** POST /v1/responses */
export const RESPONSES_WORDS: ApiWords = {
  toShown(body) {
    const items = typeof body["input"] === "string" ? [{ role: "user", content: body["input"] }] : body["input"];
    const all = objectsIn(items);
    const isSystem = ({ role }: JsonObject) => role === "system" || role === "developer";
    const systems = all.filter(isSystem).map(({ content }) => textIn(content));
    return {
      system: [textIn(body["instructions"]), ...systems].filter((text) => text !== "").join("\n"),
      messages: all.filter((item) => !isSystem(item)).flatMap(toMessage),
      tools: objectsIn(body["tools"]).map((tool) => ({
        name: String(tool["name"] ?? tool["type"]),
        description: textIn(tool["description"]),
        schema: tool["parameters"] ?? null,
      })),
    };
  },
  toDocument: (said, { model }) => toResponse(said, model),
  toEvents(said, { model }) {
    const whole = toResponse(said, model);
    return [
      named({ type: "response.created", response: { id: whole.id, created_at: whole.created_at, model } }),
      ...outputOf(said).flatMap((item, index) => itemEvents(item, index)),
      named({ type: incompleteReason(said) === null ? "response.completed" : "response.incomplete", response: whole }),
    ];
  },
  toError: (status, message) => ({ error: { message, type: "fake_error", param: null, code: String(status) } }),
  toErrorEvent: (message) =>
    named({
      type: "error",
      sequence_number: 9,
      error: { type: "server_error", code: "server_error", message, param: null },
    }),
};

type Event = JsonObject & { readonly type: string };
type Item = MessageItem | CallItem | SearchItem | ThoughtItem;

interface ThoughtItem extends JsonObject {
  readonly type: "reasoning";
  readonly id: string;
}

interface SearchItem extends JsonObject {
  readonly type: "web_search_call";
  readonly id: string;
}

interface MessageItem extends JsonObject {
  readonly type: "message";
  readonly id: string;
  readonly content: readonly [{ readonly type: "output_text"; readonly text: string; readonly annotations: [] }];
}

interface CallItem extends JsonObject {
  readonly type: "function_call";
  readonly id: string;
  readonly arguments: string;
}

function outputOf({ text, thinking, calls, search }: Utterance): readonly Item[] {
  return [
    ...(thinking === undefined ? [] : [toThoughtItem(thinking)]),
    ...(search === undefined ? [] : [toSearchItem(search)]),
    ...(text === "" && calls.length > 0 ? [] : [toMessageItem(text)]),
    ...calls.map(toCallItem),
  ];
}

/** What is thought is only for OpenAI to read. */
function toThoughtItem(thinking: string): ThoughtItem {
  const encrypted = Buffer.from(thinking).toString("base64");
  return { type: "reasoning", id: "rs_fake", summary: [], encrypted_content: encrypted };
}

function toSearchItem({ query, found }: SaidSearch): SearchItem {
  const sources = found.map(({ url }) => ({ type: "url", url }));
  return { type: "web_search_call", id: "ws_fake", status: "completed", action: { type: "search", query, sources } };
}

function toMessageItem(text: string): MessageItem {
  return {
    type: "message",
    id: "msg_fake",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
}

function toCallItem({ id, name, json }: UtteredCall): CallItem {
  return { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: json, status: "completed" };
}

function itemEvents(item: Item, index: number): readonly StreamEvent[] {
  const place = { item_id: item.id, output_index: index };
  const done = named({ type: "response.output_item.done", output_index: index, item });
  if (item.type === "message") {
    const added = { type: item.type, id: item.id, role: "assistant", content: [] };
    return [
      named({ type: "response.output_item.added", output_index: index, item: added }),
      ...inPieces(item.content[0].text).map((delta) =>
        named({ type: "response.output_text.delta", ...place, content_index: 0, delta }),
      ),
      done,
    ];
  }
  if (item.type === "reasoning")
    return [named({ type: "response.output_item.added", output_index: index, item }), done];
  if (item.type === "web_search_call") {
    const begun = { type: item.type, id: item.id, status: "in_progress" };
    return [named({ type: "response.output_item.added", output_index: index, item: begun }), done];
  }
  const added = { ...item, arguments: "", status: "in_progress" };
  return [
    named({ type: "response.output_item.added", output_index: index, item: added }),
    ...inPieces(item.arguments).map((delta) =>
      named({ type: "response.function_call_arguments.delta", ...place, delta }),
    ),
    named({ type: "response.function_call_arguments.done", ...place, arguments: item.arguments }),
    done,
  ];
}

function named(data: Event): StreamEvent {
  return { event: data.type, data };
}

function incompleteReason({ ended, reason }: Utterance): string | null {
  if (reason !== undefined) return reason;
  return ended === "length" ? "max_output_tokens" : ended === "filter" ? "content_filter" : null;
}

function toResponse(said: Utterance, model: string) {
  const reason = incompleteReason(said);
  const { input, output, cached } = said.usage ?? { input: 0, output: 0, cached: 0 };
  return {
    id: "resp_fake",
    object: "response",
    created_at: 1_700_000_000,
    model,
    status: reason === null ? "completed" : "incomplete",
    error: null,
    incomplete_details: reason === null ? null : { reason },
    output: outputOf(said),
    usage:
      said.usage === undefined
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: cached },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + output,
          },
  };
}

function toMessage(item: JsonObject): readonly ShownMessage[] {
  const { type, role } = item;
  if (type === "function_call") {
    const call = { id: String(item["call_id"]), name: String(item["name"]), input: parsedOr(item["arguments"]) };
    return [{ by: "model", text: "", calls: [call], results: [] }];
  }
  if (type === "function_call_output") {
    const result = { id: String(item["call_id"]), text: textIn(item["output"]), isError: false };
    return [{ by: "user", text: "", calls: [], results: [result] }];
  }
  if (role === undefined) return [];
  return [{ by: role === "assistant" ? "model" : "user", text: textIn(item["content"]), calls: [], results: [] }];
}
