import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseExact, writeExact } from "../../../src/core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../src/core/json.ts";

/** What the server does once it has begun to answer, one after the other. After the last one the stream ends. */
export type Move =
  | { readonly do: "send"; readonly bytes: string | Uint8Array }
  | { readonly do: "wait"; readonly ms: number }
  /** Nothing more until the client leaves. */
  | { readonly do: "hang" }
  /** The connection breaks without an end. */
  | { readonly do: "reset" };

export interface Reply {
  /** 0: the connection breaks before any answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly moves: Iterable<Move> | AsyncIterable<Move>;
}

/** How a server behaves, decided by what it is asked. */
export type Play = (request: ReceivedRequest) => Reply | Promise<Reply>;

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
  /** True: the client left before the answer had ended. */
  readonly isAbandoned: Promise<boolean>;
}

export interface FakeSandstorm {
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  close(): Promise<void>;
}

export interface FakeOptions {
  /** Answers POST /query. */
  readonly play: Play;
  /** Answers GET /health. */
  readonly health?: Play;
  /** Answers GET /runs, as servers from 0.6 on do. */
  readonly runs?: Play;
  /** Asked for on /query and /runs, as servers from 0.8.0 on do. */
  readonly apiKey?: string;
  /** 0 picks a free one. */
  readonly port?: number;
  /** A path in front of the routes, as behind a proxy. */
  readonly basePath?: string;
}

/** A Sandstorm server over real HTTP that plays a script instead of running agents. */
export async function startFakeSandstorm(options: FakeOptions): Promise<FakeSandstorm> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, options, requests).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${options.basePath ?? ""}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: FakeOptions,
  requests: ReceivedRequest[],
): Promise<void> {
  const gone = new Promise<boolean>((resolve) => outgoing.once("close", () => resolve(!outgoing.writableFinished)));
  const request = await receive(incoming, gone);
  requests.push(request);
  const reply = await route(request, options);
  if (reply.status === 0) {
    outgoing.destroy();
    return;
  }
  outgoing.writeHead(reply.status, reply.headers);
  outgoing.flushHeaders();
  const hasEnded = await perform(reply.moves, outgoing, gone);
  if (hasEnded) outgoing.end();
}

async function receive(incoming: IncomingMessage, isAbandoned: Promise<boolean>): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const body: Json = text === "" ? {} : parseExact(text);
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: isJsonObject(body) ? body : {},
    isAbandoned,
  };
}

function route(request: ReceivedRequest, options: FakeOptions): Reply | Promise<Reply> {
  const path = request.path.replace(options.basePath ?? "", "").replace(/\?.*$/, "");
  if (request.method === "GET" && path === "/health") return (options.health ?? healthy)(request);
  const isList = request.method === "GET" && path === "/runs" && options.runs !== undefined;
  if (!isList && (request.method !== "POST" || path !== "/query")) return toJsonReply(404, { detail: "Not Found" });
  if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`)
    return toUnauthenticated(request);
  return isList && options.runs !== undefined ? options.runs(request) : options.play(request);
}

function healthy(): Reply {
  return toJsonReply(200, { status: "ok", version: "0.9.2" });
}

function toUnauthenticated(request: ReceivedRequest): Reply {
  const detail =
    request.headers.authorization === undefined ? "Not authenticated" : "Invalid authentication credentials";
  return {
    ...toJsonReply(401, { detail }),
    headers: { "content-type": "application/json", "www-authenticate": "Bearer" },
  };
}

export function toJsonReply(status: number, body: Json): Reply {
  return {
    status,
    headers: { "content-type": "application/json" },
    moves: [{ do: "send", bytes: writeExact(body) }],
  };
}

/** 200 with the headers of the real server. */
export function toStreamReply(moves: Reply["moves"]): Reply {
  const headers = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  };
  return { status: 200, headers, moves };
}

/** False: the connection has come to its end already. */
async function perform(moves: Reply["moves"], outgoing: ServerResponse, gone: Promise<boolean>): Promise<boolean> {
  for await (const move of moves) {
    if (outgoing.destroyed) return false;
    if (move.do === "send") await send(move.bytes, outgoing, gone);
    else if (move.do === "wait") await new Promise((resolve) => setTimeout(resolve, move.ms));
    else if (move.do === "hang") await gone;
    else outgoing.destroy();
  }
  return !outgoing.destroyed;
}

/** Waits until it is on its way, so that an endless stream stays small here and a reset loses nothing sent before. */
async function send(bytes: string | Uint8Array, outgoing: ServerResponse, gone: Promise<boolean>): Promise<void> {
  await Promise.race([gone, new Promise((resolve) => outgoing.write(bytes, resolve))]);
}
