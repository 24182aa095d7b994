import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isJsonObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { ANTHROPIC_WORDS } from "./anthropic-words.ts";
import { CHAT_WORDS } from "./chat-words.ts";
import { GOOGLE_WORDS } from "./google-words.ts";
import type { ApiWords, ModelApi, ModelReply, ModelRequest, SaidReply, StreamEvent } from "./model-reply.ts";
import { RESPONSES_WORDS } from "./responses-words.ts";

/** Decides what happens with a request, for instance by what was asked. */
type Play = (request: ModelRequest, index: number) => ModelReply | Promise<ModelReply>;

export interface FakeModelServer {
  /** Base URL of all APIs: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

export interface FakeModelOptions {
  /** One reply for each request, of which the last repeats; or a function. */
  readonly replies: Play | readonly ModelReply[];
  /** Asked for in whichever header the API has for it. Absent: every key will do. */
  readonly apiKey?: string;
}

const WORDS: Readonly<Record<ModelApi, ApiWords>> = {
  anthropic: ANTHROPIC_WORDS,
  chat: CHAT_WORDS,
  responses: RESPONSES_WORDS,
  google: GOOGLE_WORDS,
};

/** A model provider over real HTTP that says what it is told to: Anthropic, OpenAI (both of its APIs) and Google. */
export async function startFakeModelServer(options: FakeModelOptions): Promise<FakeModelServer> {
  const requests: ModelRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, options, requests).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
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
  { replies, apiKey }: FakeModelOptions,
  requests: ModelRequest[],
): Promise<void> {
  const gone = new Promise<boolean>((resolve) => outgoing.once("close", () => resolve(!outgoing.writableFinished)));
  const request = await receive(incoming, gone);
  if (request === undefined) return send(outgoing, 404, { error: { message: "Not found", type: "not_found" } });
  requests.push(request);
  const index = requests.length - 1;
  if (apiKey !== undefined && keyOf(request) !== apiKey)
    return refuse(outgoing, request, { do: "refuse", status: 401, message: "invalid api key" });
  const reply = typeof replies === "function" ? await replies(request, index) : (replies[index] ?? replies.at(-1));
  await perform(reply ?? { do: "cut" }, { outgoing, request, gone });
}

async function receive(incoming: IncomingMessage, isAbandoned: Promise<boolean>): Promise<ModelRequest | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const path = (incoming.url ?? "").replace(/\?.*$/, "");
  const api = apiOf(path);
  if (incoming.method !== "POST" || api === undefined) return undefined;
  const parsed: Json = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
  const body = isJsonObject(parsed) ? parsed : {};
  const inPath = /\/models\/([^/:]+):/.exec(path)?.[1];
  return { api, path, headers: incoming.headers, body, model: inPath ?? String(body["model"]), isAbandoned };
}

function apiOf(path: string): ModelApi | undefined {
  if (path === "/v1/messages") return "anthropic";
  if (path === "/v1/chat/completions") return "chat";
  if (path === "/v1/responses") return "responses";
  return /\/models\/[^/]+:(stream)?[gG]enerateContent$/.test(path) ? "google" : undefined;
}

function keyOf({ headers }: ModelRequest): unknown {
  const { authorization } = headers;
  const bearer = typeof authorization === "string" ? authorization.replace(/^Bearer /, "") : undefined;
  return headers["x-api-key"] ?? headers["x-goog-api-key"] ?? bearer;
}

interface Exchange {
  readonly outgoing: ServerResponse;
  readonly request: ModelRequest;
  readonly gone: Promise<boolean>;
}

async function perform(reply: ModelReply, { outgoing, request, gone }: Exchange): Promise<void> {
  switch (reply.do) {
    case "say":
      return say(outgoing, request, reply);
    case "refuse":
      return refuse(outgoing, request, reply);
    case "send":
      outgoing.writeHead(200, { "content-type": "application/json" }).end(reply.body);
      return;
    case "cut":
      outgoing.destroy();
      return;
    case "hang":
      await gone;
  }
}

function say(outgoing: ServerResponse, request: ModelRequest, reply: SaidReply): void {
  const words = WORDS[request.api];
  const isStream = request.body["stream"] === true || request.path.endsWith(":streamGenerateContent");
  if (!isStream) {
    send(outgoing, 200, words.toDocument(reply, request));
    return;
  }
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of words.toEvents(reply, request)) outgoing.write(toSse(event));
  outgoing.end(request.api === "chat" ? "data: [DONE]\n\n" : undefined);
}

function toSse({ event, data }: StreamEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function refuse(outgoing: ServerResponse, { api }: ModelRequest, reply: ModelReply & { readonly do: "refuse" }): void {
  const { status, message = "scripted refusal", headers = {} } = reply;
  send(outgoing, status, WORDS[api].toError(status, message), headers);
}

function send(
  outgoing: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
