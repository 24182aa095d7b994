import { type FetchLike, type JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { HttpWay } from "../resolve-server.ts";

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
  constructor({ url, headers }: HttpWay) {
    super(url, { requestInit: { headers }, fetch: boundedFetch });
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

/** A body without an end would otherwise be held in memory as a whole. */
export const boundedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
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
};
