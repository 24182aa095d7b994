import type { FetchLike, RequestId } from "@modelcontextprotocol/client";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { isJsonObject } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import type { MessageReader } from "./message-reader.ts";

const EVENTS = "text/event-stream";
const HEAD_CHARS = 4_000;
/** What the SDK gets in the place of an answer that was delivered: with it a stream is not asked for again. */
const ANSWERED = '{"jsonrpc":"2.0","id":"delivered","result":{}}';

/** Has `reader` read what comes in streams of events. */
export function readEvents(ask: FetchLike, reader: MessageReader): FetchLike {
  return async (url, init) => {
    const response = await ask(url, init);
    return response.ok && isStream(response) ? deliverFrom(response, { reader }) : response;
  };
}

/** Has `reader` read the answers to requests as well, of whatever type they say that they are. */
export function readAnswers(ask: FetchLike, reader: MessageReader): FetchLike {
  const readStream = readEvents(ask, reader);
  return async (url, init) => {
    const of = idOf(init?.body);
    if (of === undefined) return readStream(url, init);
    const response = await ask(url, init);
    if (!response.ok) return response;
    if (isStream(response)) return deliverFrom(response, { reader, of });
    const whole = await response.text();
    const event = new Response(toText({ data: whole.replace(/\r\n?/g, "\n") }));
    return deliverFrom({ headers: response.headers, body: event.body }, { reader, of, whole });
  };
}

interface Reading {
  readonly reader: MessageReader;
  /** The request that is answered. */
  readonly of?: RequestId;
  /** The answer, where it is no stream. */
  readonly whole?: string;
}

/** The response as a stream of events without what `reader` has delivered from it. */
function deliverFrom({ headers, body }: Pick<Response, "headers" | "body">, reading: Reading): Response {
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(deliver(reading));
  const type = new Headers(headers);
  type.set("content-type", EVENTS);
  return new Response(events?.pipeThrough(new TextEncoderStream()), { headers: type });
}

function deliver({ reader, of, whole }: Reading): TransformStream<string, string> {
  let head = whole ?? "";
  // It goes on in another stream, if this one breaks off.
  let isResumable = false;
  const events: string[] = [];
  const parser = createParser({
    onEvent(event) {
      if (event.id !== undefined) isResumable = true;
      const isMessage = event.data !== "" && (event.event === undefined || event.event === "message");
      const heard = isMessage ? reader.hear(event.data, of) : undefined;
      events.push(toText({ ...event, data: heard === "answer" ? ANSWERED : isMessage ? "" : event.data }));
    },
    onRetry: (retryMs) => events.push(`retry: ${retryMs}\n\n`),
  });
  return new TransformStream({
    transform(piece, controller) {
      if (head.length < HEAD_CHARS) head += whole === undefined ? piece : "";
      parser.feed(piece);
      for (const event of events.splice(0)) controller.enqueue(event);
    },
    flush(controller) {
      // A last event without its blank line counts.
      parser.feed("\n\n");
      for (const event of events) controller.enqueue(event);
      if (of !== undefined && !isResumable) reader.fail(of, "it holds no answer", head.slice(0, HEAD_CHARS));
    },
  });
}

function toText({ id, event, data }: EventSourceMessage): string {
  const lines = data.split("\n").map((line) => `data: ${line}`);
  const named = [...(id === undefined ? [] : [`id: ${id}`]), ...(event === undefined ? [] : [`event: ${event}`])];
  return `${[...named, ...lines].join("\n")}\n\n`;
}

function isStream({ headers, body }: Response): boolean {
  return body !== null && headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() === EVENTS;
}

/** The id of a request that is sent; undefined for all else. */
function idOf(body: unknown): RequestId | undefined {
  const sent = typeof body === "string" ? parseJson(body) : undefined;
  if (!isJsonObject(sent) || typeof sent["method"] !== "string") return undefined;
  const { id } = sent;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
