import { writeExact } from "../../core/exact-json.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { type UserFields, writeMarked } from "../../core/marked-json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { type FailedModel, KnownFailure, toUnreadable } from "./model-failure.ts";
import { ownEntry, type ProviderKind } from "./models-options.ts";

/** A request that accepts this wants a stream. */
export const EVENTS = "text/event-stream";

/** No model says so much. */
const MAX_ANSWER_CHARS = 64 * 1024 * 1024;
const ASKS_FOR_USAGE = ',"stream_options":{"include_usage":true}';

/** The `fetch` of the SDK's providers. It reads answers first, so that odd but harmless values do not fail the SDK, and others fail with a reason. */
export function createProviderFetch(kind: ProviderKind, model: FailedModel): typeof fetch {
  const fail = (text: string, cause: string) => new KnownFailure(toUnreadable(model, { text, cause }));
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || response.body === null) return response;
    const types = [new Headers(init?.headers).get("accept"), response.headers.get("content-type")];
    const read = types.some((type) => type?.includes(EVENTS)) ? readEvents : readDocument;
    return read(response, response.body.pipeThrough(new TextDecoderStream()), { kind, fail });
  };
}

async function send(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Promise<Response> {
  // Only `Authorization` would be taken off on the way to another host: keys and conversations go to the provider, and no further.
  const direct = { ...init, redirect: "manual" } as const;
  const response = await fetch(input, direct);
  const { body } = direct;
  const isRefused = response.status === 400 || response.status === 422;
  if (!isRefused || typeof body !== "string" || !body.includes(ASKS_FOR_USAGE)) return response;
  if (!(await response.clone().text()).includes("stream_options")) return response;
  // The server cannot be asked how much was used. It has done nothing.
  return fetch(input, { ...direct, body: body.replace(ASKS_FOR_USAGE, "") });
}

interface Reading {
  readonly kind: ProviderKind;
  fail(text: string, cause: string): KnownFailure;
}

/** What tools are called with, where it is no text. The rest is the SDK's. */
const ARGUMENTS: UserFields = new Set(["args", "input"]);
const NO_JSON = "it is no JSON object";
const FOREIGN = "it is no message of this API";

async function readDocument(
  { status, headers }: Response,
  body: ReadableStream<string>,
  { kind, fail }: Reading,
): Promise<Response> {
  let text = "";
  for await (const piece of body) {
    text += piece;
    if (text.length > MAX_ANSWER_CHARS) throw fail(text, "it is too long");
  }
  const message = parseJson(text);
  if (!isJsonObject(message)) throw fail(text, NO_JSON);
  const read = readProviderMessage(message, { kind, isEvent: false });
  if (typeof read === "string") throw fail(text, FOREIGN);
  return new Response(writeMarked(read, ARGUMENTS), { status: readErrorStatus(message) ?? status, headers });
}

async function readEvents(
  { status, headers }: Response,
  body: ReadableStream<string>,
  { kind, fail }: Reading,
): Promise<Response> {
  const { EventSourceParserStream } = await import("eventsource-parser/stream");
  let chars = 0;
  /** All that came, until the first event. */
  let head: string | undefined = "";
  const count = new TransformStream<string, string>({
    transform(text, controller) {
      chars += text.length;
      if (chars > MAX_ANSWER_CHARS) throw fail(text, "it is too long");
      if (head !== undefined) head += text;
      controller.enqueue(text);
    },
  });
  const read = new TransformStream<{ readonly event?: string | undefined; readonly data: string }, string>({
    transform({ event, data }, controller) {
      if (event === "ping" || data.trim() === "") return;
      const message = parseJson(data);
      // The SDK knows the end, and tells of what the connection has garbled.
      const isForSdk = data === "[DONE]" || (message === undefined && head === undefined);
      if (!isForSdk && !isJsonObject(message)) throw fail(data, NO_JSON);
      const mended = isJsonObject(message) ? readProviderMessage(message, { kind, isEvent: true }) : data;
      if (mended === "foreign") throw fail(data, FOREIGN);
      head = undefined;
      const lines = typeof mended === "string" ? mended.replaceAll("\n", "\ndata: ") : writeMarked(mended, ARGUMENTS);
      if (mended !== "nothing") controller.enqueue(`data: ${lines}\n\n`);
    },
    flush(controller) {
      if (head === undefined || head.trim() === "") return;
      // In the place of a stream an error is still an error. Anything else is no answer.
      const message = parseJson(head);
      const isError = isJsonObject(message) && readErrorStatus(message) !== undefined;
      if (!isError) throw fail(head, "it is no stream of events");
      controller.enqueue(`data: ${writeMarked(readProviderMessage(message, { kind, isEvent: true }), ARGUMENTS)}\n\n`);
    },
  });
  const events = body.pipeThrough(count).pipeThrough(new EventSourceParserStream()).pipeThrough(read);
  return new Response(events.pipeThrough(new TextEncoderStream()), { status, headers });
}

/** JSON leaves out what is undefined. */
type Written = Readonly<Record<string, Json | undefined | object>>;

/**
 * Reads a message of a provider, an event of a stream or a whole answer, as it is meant. An optional value that is null is
 * absent; what the SDK's schemas demand and is never read is made up; a use that is not told is -1. What is said stays as it
 * is. `nothing`: there is nothing to read in it. `foreign`: it is no message of this API.
 */
function readProviderMessage(
  message: JsonObject,
  { kind, isEvent }: { readonly kind: ProviderKind; readonly isEvent: boolean },
): Written | "nothing" | "foreign" {
  if (message["type"] === "ping" || Object.keys(message).length === 0) return "nothing";
  const given = withoutNulls(message);
  const error = errorIn(given);
  if (error !== undefined) return { type: "error", sequence_number: 0, error: readError(error, kind) };
  if (!KEYS[kind].some((key) => key in given)) return "foreign";
  const madeUp = ownEntry(MADE_UP, String(given["type"]));
  switch (kind) {
    case "openai-compatible":
      return readChat(given);
    case "anthropic":
      return madeUp === undefined ? "nothing" : fill(given, madeUp);
    case "openai":
      return "output" in given ? readResponse(given) : readResponseEvent(given);
    case "google":
      return isEvent ? given : message;
  }
}

/** One of these is in every message. */
const KEYS: Readonly<Record<ProviderKind, readonly string[]>> = {
  "openai-compatible": ["choices", "usage", "object"],
  anthropic: ["type"],
  openai: ["type", "output"],
  google: ["candidates", "usageMetadata", "promptFeedback"],
};

/** Some servers send the error itself. */
function errorIn(message: JsonObject): Json | undefined {
  return message["error"] ?? (message["object"] === "error" ? message : undefined);
}

/** The status that an error would have had that comes with a 200. */
function readErrorStatus(message: JsonObject): number | undefined {
  const error = errorIn(message);
  if (error === undefined) return undefined;
  const { code, status, type } = asObject(error);
  const given = [code, status].map(Number).find((number) => number >= 400 && number < 600);
  return given ?? (type === "overloaded_error" ? 529 : type === "rate_limit_error" ? 429 : 500);
}

function readError(error: Json, kind: ProviderKind): Written {
  const {
    message = "no reason given",
    type = "error",
    code,
    ...others
  } = isJsonObject(error) ? error : { message: error };
  return { ...others, message: String(message), type, code: kind === "openai" ? String(code) : Number(code) || null };
}

/** Parts that only describe what is said. A null in others may mean something. */
const ENVELOPES: ReadonlySet<string> = new Set([
  ...["message", "content", "choices", "delta", "tool_calls", "function", "usage", "content_block", "error"],
  ...["response", "item", "output", "candidates", "parts", "functionCall"],
]);

function withoutNulls(message: JsonObject): JsonObject {
  const read = (key: string, value: Json): Json => {
    // Arguments of tools are handed on as a text: their integers stay exact, and their nulls stay there.
    if (key === "arguments" || key === "args") return typeof value === "string" ? value : writeExact(value);
    if (!ENVELOPES.has(key)) return key === "id" ? String(value) : value;
    if (Array.isArray(value)) return value.map((item: Json) => (isJsonObject(item) ? withoutNulls(item) : item));
    return isJsonObject(value) ? withoutNulls(value) : value;
  };
  const given = Object.entries(message).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([key, value]) => [key, read(key, value)]));
}

/** The use of tokens, if it is told as a whole. */
function readCounts(usage: Json | undefined, ...names: readonly string[]): JsonObject | undefined {
  const counts = asObject(usage);
  return names.every((name) => typeof counts[name] === "number") ? counts : undefined;
}

function readChat({ model, choices, usage }: JsonObject): Written {
  const said = (words: Json | undefined) => words && { ...asObject(words), role: undefined };
  const read = (choice: Json) => {
    const { delta, message, finish_reason } = asObject(choice);
    return { delta: said(delta), message: said(message), finish_reason };
  };
  return {
    model: typeof model === "string" ? model : undefined,
    // The last event of a stream may have nothing but the usage.
    choices: Array.isArray(choices) ? choices.map(read) : [],
    usage: readCounts(usage, "prompt_tokens", "completion_tokens"),
  };
}

/** What is made up for the messages of Anthropic, by their types. Those of other types are to be left out. */
const MADE_UP: Readonly<Record<string, JsonObject>> = {
  message: { content: [], usage: { input_tokens: -1, output_tokens: -1 } },
  message_start: { message: { usage: { input_tokens: -1 } } },
  message_delta: { usage: { output_tokens: -1 } },
  message_stop: {},
  content_block_start: { content_block: { text: "", thinking: "" } },
  content_block_delta: {},
  content_block_stop: {},
};

function fill(given: JsonObject, madeUp: JsonObject): JsonObject {
  const filled = Object.entries(madeUp).map(([key, value]) => {
    return [key, isJsonObject(value) ? fill(asObject(given[key]), value) : (given[key] ?? value)];
  });
  return { ...given, ...Object.fromEntries(filled) };
}

function readResponseEvent(given: JsonObject): Written {
  const { response, item, output_index: index } = given;
  const id = `item_${String(index)}`;
  return {
    sequence_number: 0,
    item_id: id,
    ...given,
    response: response && readResponse(asObject(response)),
    item: item && { id, ...asObject(item) },
  };
}

function readResponse(response: JsonObject): Written {
  const { status = "completed", usage, output, incomplete_details: details } = response;
  // Some say only by their status that it is not the whole answer.
  const reason = asObject(details)["reason"] ?? (status === "completed" ? undefined : status);
  return {
    id: "",
    model: "",
    ...response,
    created_at: 0,
    output: Array.isArray(output) ? output.map((item, index) => ({ id: `item_${index}`, ...asObject(item) })) : output,
    usage: readCounts(usage, "input_tokens", "output_tokens"),
    incomplete_details: reason && { reason },
  };
}
