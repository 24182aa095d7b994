import {
  type FetchLike,
  type JSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Outbound } from "../../../ports/outbound.ts";
import { toFetch } from "../../outbound/outbound-fetch.ts";
import type { HttpWay } from "../resolve-server.ts";
import { readAnswers, readEvents } from "./answer-stream.ts";
import type { MessageReader } from "./message-reader.ts";

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

/** The limit of one response: a whole stream of events, or one JSON text. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Implementation-defined, in the range that JSON-RPC leaves to servers. */
export const STREAM_ENDED = -32_097;

/**
 * Streamable HTTP. Unlike the SDK's own transport it answers a request itself when the stream that should have brought
 * the answer has ended for good: otherwise the call would wait for its time-out.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #reader: MessageReader;

  constructor(way: HttpWay, outbound: Outbound, reader: MessageReader) {
    super(way.url, { requestInit: { headers: way.headers }, fetch: readAnswers(fetchFor(way, outbound), reader) });
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

  constructor(way: HttpWay, outbound: Outbound, reader: MessageReader) {
    super(way.url, {
      requestInit: { headers: { ...way.headers } },
      fetch: readEvents(fetchFor(way, outbound), reader),
    });
    this.#reader = reader;
    reader.deliver = (message) => this.onmessage?.(message);
  }

  override send(message: JSONRPCMessage): Promise<void> {
    this.#reader.noteSent(message);
    return super.send(message);
  }
}

/** Requests to one server: bounded, and with their headers to no other origin. */
function fetchFor({ reach }: HttpWay, outbound: Outbound): FetchLike {
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
