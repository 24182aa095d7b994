import {
  type FetchLike,
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { isJsonObject } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import type { Outbound } from "../../../ports/outbound.ts";
import { toFetch } from "../../outbound/outbound-fetch.ts";
import type { HttpWay } from "../resolve-server.ts";
import type { MessageReader } from "./message-reader.ts";

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

/** The limit of one response: a whole stream of events, or one JSON text. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Implementation-defined, in the range that JSON-RPC leaves to servers. */
export const STREAM_ENDED = -32_097;

/** Streamable HTTP. Unlike the SDK's transport it fails a request whose stream has ended without an answer, instead of waiting for the time-out. */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #reader: MessageReader;

  constructor(way: HttpWay, ask: FetchLike, reader: MessageReader) {
    super(way.url, { requestInit: { headers: way.headers }, fetch: readAnswers(ask, reader) });
    this.#reader = reader;
    reader.deliver = (message) => this.onmessage?.(message);
  }

  override async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    this.#reader.noteSent(message);
    if (!("method" in message) || !("id" in message)) return super.send(message, options);
    const { id } = message;
    options?.requestSignal?.addEventListener("abort", () => this.#reader.forget(id), { once: true });
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      this.#reader.forget(id);
      this.onmessage?.({ jsonrpc: "2.0", id, error: { code: STREAM_ENDED, message: "The answer broke off." } });
    };
    try {
      await super.send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      this.#reader.forget(id);
      throw error;
    }
  }
}

/** The older way: answers come as events of one stream, whatever the requests are answered with. */
export class SseTransport extends SSEClientTransport {
  readonly #reader: MessageReader;

  constructor(way: HttpWay, ask: FetchLike, reader: MessageReader) {
    super(way.url, { requestInit: { headers: { ...way.headers } }, fetch: readEvents(ask, reader) });
    this.#reader = reader;
    reader.deliver = (message) => this.onmessage?.(message);
  }

  override send(message: JSONRPCMessage): Promise<void> {
    this.#reader.noteSent(message);
    return super.send(message);
  }
}

/** Requests to one server: bounded, and with their headers to no other origin. */
export function fetchFor({ reach }: HttpWay, outbound: Outbound): FetchLike {
  // Where any address may be asked, connections are kept, which spares a handshake for each call.
  const ask: FetchLike = reach === "anywhere" ? fetch : toFetch(outbound, reach);
  return async (url, init) => {
    let at = new URL(url);
    for (let hops = 0; ; hops += 1) {
      const response = await ask(at, { ...init, redirect: "manual" });
      const next = KEEPING.includes(response.status)
        ? URL.parse(response.headers.get("location") ?? "", at.href)
        : null;
      if (next === null || next.origin !== at.origin || hops === MAX_REDIRECTS) return bound(response);
      await response.body?.cancel();
      at = next;
    }
  };
}

/** Redirects that keep method and body: some servers add a slash to their path. */
const KEEPING: readonly number[] = [307, 308];
const MAX_REDIRECTS = 3;

/** A body without an end would otherwise be held in memory as a whole. */
function bound(response: Response): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > MAX_RESPONSE_BYTES) controller.error(new Error("The response is too large."));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(bounded, { status, statusText, headers });
}

const EVENTS = "text/event-stream";
const HEAD_CHARS = 4_000;
/** What the SDK gets in the place of an answer that was delivered: with it a stream is not asked for again. */
const ANSWERED = '{"jsonrpc":"2.0","id":"delivered","result":{}}';

/** Has `reader` read what comes in streams of events. */
function readEvents(ask: FetchLike, reader: MessageReader): FetchLike {
  return async (url, init) => {
    const response = await ask(url, init);
    return response.ok && isStream(response) ? deliverFrom(response, { reader }) : response;
  };
}

/** Has `reader` read the answers to requests as well, of whatever type they say that they are. */
function readAnswers(ask: FetchLike, reader: MessageReader): FetchLike {
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
