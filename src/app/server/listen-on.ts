import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Server } from "node:net";
import { setTimeout } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { PawlError } from "../../core/errors/pawl-error.ts";

export interface HttpListener {
  readonly url: string;
  /**
   * Takes no more connections, and ends each with its next answer, or when nothing was sent for a moment: a request may be on
   * its way on one that looks idle. Resolves when all have ended.
   */
  close(): Promise<void>;
  /** After `close`. Resolves when nothing was sent over the open connections for a moment. */
  quiet(): Promise<void>;
  /** Resolves when every request that has come whole is answered, or when the signal aborts. */
  answered(patience: AbortSignal): Promise<void>;
  /** Gives answers in flight a moment to be sent. */
  hurry(force: AbortSignal): void;
}

const LAST_WORDS_MS = 1_000;
const QUIET_MS = 150;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_HEADERS = 100;

/** `env`: the request as Node knows it. */
type Fetch = (request: Request, env: unknown) => Response | Promise<Response>;

export interface ListenOptions {
  readonly address: string;
  readonly port: number;
  readonly maxConnections?: number;
  /** How long a client may take to send a whole request; a quarter of it for the headers. Answers may take any time. */
  readonly requestTimeoutMs?: number;
}

/** Listens on an address of this machine. Throws `ADDRESS_UNAVAILABLE`. */
export async function listenOn(
  fetch: Fetch,
  { address, port, maxConnections, requestTimeoutMs = 60_000 }: ListenOptions,
): Promise<HttpListener> {
  let isClosing = false;
  let lastRequestAt = 0;
  let closed = Promise.resolve();
  const underWay = new Map<ServerResponse, IncomingMessage>();
  // Puts classes in the place of `Request` and `Response` that are these, and make streams only where one is read: half of
  // what a short request costs otherwise.
  const answer = getRequestListener((request: Request, env) => fetch(request, env));
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.ceil(requestTimeoutMs / 4),
    connectionsCheckingInterval: Math.min(5_000, Math.ceil(requestTimeoutMs / 4)),
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const server = createServer(limits, (incoming, outgoing) => {
    lastRequestAt = performance.now();
    // A client that keeps its connection would keep the process.
    if (isClosing) outgoing.setHeader("connection", "close");
    underWay.set(outgoing, incoming);
    outgoing.once("close", () => underWay.delete(outgoing));
    void answer(incoming, outgoing);
  });
  server.maxHeadersCount = MAX_HEADERS;
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    const refused = (cause: Error) => {
      const reason = "code" in cause && cause.code === "EADDRINUSE" ? "it is in use" : cause.message;
      reject(
        new PawlError("ADDRESS_UNAVAILABLE", {
          message: `${address}:${port} cannot be listened on: ${reason}.`,
          cause,
        }),
      );
    };
    server.once("error", refused);
    server.listen(port, address, () => {
      server.off("error", refused);
      resolve();
    });
  });
  const bound = server.address();
  const isQuiet = async () => {
    const began = performance.now();
    for (let last = began; performance.now() - last < QUIET_MS; last = Math.max(began, lastRequestAt))
      await setTimeout(QUIET_MS / 3);
  };
  const boundPort = typeof bound === "object" && bound !== null ? bound.port : port;
  return {
    url: `http://${address.includes(":") ? `[${address}]` : address}:${boundPort}`,
    close: () => {
      isClosing = true;
      for (const outgoing of underWay.keys()) if (!outgoing.headersSent) outgoing.setHeader("connection", "close");
      // That of HTTP would end connections that look idle at once.
      closed = new Promise<void>((resolve) => Server.prototype.close.call(server, () => resolve()));
      void isQuiet().then(() => server.closeIdleConnections());
      return closed;
    },
    quiet: () => Promise.race([closed, isQuiet()]),
    answered: async (patience) => {
      const isAnswered = () => [...underWay.values()].every(({ complete }) => !complete);
      while (!isAnswered() && !patience.aborted) await setTimeout(QUIET_MS / 3);
    },
    hurry: (force) => {
      server.closeIdleConnections();
      const end = () => server.closeAllConnections();
      if (force.aborted) return end();
      force.addEventListener("abort", end, { once: true });
      void setTimeout(LAST_WORDS_MS, undefined, { ref: false }).then(end);
    },
  };
}
