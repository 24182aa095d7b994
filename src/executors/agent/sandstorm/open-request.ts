import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { type Proxies, readProxies } from "../../../core/proxy-variables.ts";

export interface RequestFacts {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** The connection stands (with TLS): from here on the server may act. */
  readonly onConnected?: () => void;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Destroying it ends the connection. */
  readonly body: Readable;
}

/**
 * Sends one HTTP request and resolves with the answer's head; rejects when there is none. It is not `fetch`, since an
 * agent may be silent for longer than the five minutes that `fetch` allows between two chunks. Redirects are not followed,
 * bodies are not unpacked, and every request has its own socket, so that ending the request ends the connection.
 */
export async function openRequest(url: URL, facts: RequestFacts): Promise<HttpResponse> {
  const proxies = readProxies(process.env);
  return proxies === undefined ? openDirectly(url, facts) : openThroughProxy(url, facts, proxies);
}

async function openDirectly(url: URL, facts: RequestFacts): Promise<HttpResponse> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: facts.method, headers: facts.headers, signal: facts.signal, agent: false });
    outgoing.on("socket", (socket) => {
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => facts.onConnected?.());
    });
    outgoing.on("error", reject);
    outgoing.on("response", (body) => resolve({ status: body.statusCode ?? 0, headers: body.headers, body }));
    outgoing.end(facts.body);
  });
}

/** Hosts in `NO_PROXY` and this machine are reached directly here too: the agent looks at each address. */
async function openThroughProxy(url: URL, facts: RequestFacts, proxies: Proxies): Promise<HttpResponse> {
  const { EnvHttpProxyAgent, request } = await import("undici");
  const dispatcher = new EnvHttpProxyAgent({ ...proxies, headersTimeout: 0, bodyTimeout: 0 });
  const { method, headers, body, signal, onConnected } = facts;
  try {
    // Only the proxy knows when the server is connected, so the server may act from here on.
    onConnected?.();
    const answer = await request(url, { method, headers, body, signal, dispatcher });
    answer.body.once("close", () => void dispatcher.destroy());
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  } catch (error) {
    await dispatcher.destroy();
    throw error;
  }
}

/** Reads the beginning of a body. What breaks off or goes on for ever still gives its beginning. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // The status line has already said what matters.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
