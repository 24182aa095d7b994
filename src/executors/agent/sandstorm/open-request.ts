import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";

export interface RequestFacts {
  readonly method: "GET" | "POST";
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** The connection stands (with TLS): from here on the server may act. */
  readonly onConnected?: () => void;
}

/**
 * Sends one HTTP request and resolves with the answer's head; rejects when there is none. It is not `fetch`, since an
 * agent may be silent for longer than the five minutes that `fetch` allows between two chunks. Nothing is followed
 * (redirects), unpacked (compression) or taken from the environment (proxies), and every request has its own socket,
 * so that ending the request ends the connection.
 */
export async function openRequest(url: URL, facts: RequestFacts): Promise<IncomingMessage> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: facts.method, headers: facts.headers, signal: facts.signal, agent: false });
    outgoing.on("socket", (socket) => {
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => facts.onConnected?.());
    });
    outgoing.on("error", reject);
    outgoing.on("response", resolve);
    outgoing.end(facts.body);
  });
}
