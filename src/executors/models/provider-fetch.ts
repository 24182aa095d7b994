import { isJsonObject } from "../../core/json.ts";
import { type UserFields, writeMarked } from "../../core/marked-json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { type FailedModel, KnownFailure, toUnreadable } from "./model-failure.ts";
import type { ProviderKind } from "./models-options.ts";
import { readErrorStatus, readProviderMessage } from "./provider-message.ts";

/** A request that accepts this wants a stream. */
export const EVENTS = "text/event-stream";

/** No model says so much. */
const MAX_ANSWER_CHARS = 64 * 1024 * 1024;
const ASKS_FOR_USAGE = ',"stream_options":{"include_usage":true}';

/**
 * The `fetch` of the SDK's providers. It reads each answer first, so that the SDK fails for nothing that means nothing. What
 * cannot be read fails with its cause and its first characters.
 */
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
