import { type FetchLike, type JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Outbound } from "../../../ports/outbound.ts";
import { toFetch } from "../../outbound/outbound-fetch.ts";
import type { HttpWay } from "../resolve-server.ts";
import { markResponse } from "./marked-answer.ts";

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
  constructor(way: HttpWay, outbound: Outbound) {
    super(way.url, { requestInit: { headers: way.headers }, fetch: fetchFor(way, outbound) });
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!("method" in message) || !("id" in message)) return super.send(message, options);
    const { id } = message;
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      this.onmessage?.({ jsonrpc: "2.0", id, error: { code: STREAM_ENDED, message: "The answer broke off." } });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
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
      if (next === null || next.origin !== at.origin || hops === MAX_REDIRECTS)
        return markResponse(bound(response), MAX_RESPONSE_BYTES);
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
