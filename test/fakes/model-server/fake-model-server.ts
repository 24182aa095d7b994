import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseExact } from "../../../src/core/exact-json.ts";
import { isJsonObject, type Json } from "../../../src/core/json.ts";
import { findRefusal } from "./find-refusal.ts";
import { type ModelApi, type ModelReply, type ModelRequest, type StreamEvent, toUtterance } from "./model-reply.ts";
import { performReply, refuse, send, WORDS } from "./perform-reply.ts";

/** Decides what happens with a request, for instance by what was asked. */
export type Play = (request: ModelRequest, index: number) => ModelReply | Promise<ModelReply>;

export interface FakeModelServer {
  /** Base URL of all APIs: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly ModelRequest[];
  /** Nobody listens any more, and every connection is cut, until `comeBack`. */
  leave(): Promise<void>;
  /** On the same port. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

export interface FakeModelOptions {
  /** One reply for each request, of which the last repeats; or a function. */
  readonly replies: Play | readonly ModelReply[];
  /** Asked for in whichever header the API has for it. Absent: every key will do. */
  readonly apiKey?: string;
  /** Absent: the system chooses. */
  readonly port?: number;
  /** False: requests are forgotten, for those who send very many. */
  readonly keepsRequests?: boolean;
  /** Told of every request that is understood. */
  readonly onRequest?: (request: ModelRequest) => void;
  /** Told of each event of a stream when it is sent. */
  readonly onSent?: (event: StreamEvent) => void;
}

/**
 * A model provider over real HTTP that says what it is told to, and refuses what the real ones refuse: Anthropic, OpenAI (both
 * of its APIs) and Google.
 */
export async function startFakeModelServer(options: FakeModelOptions): Promise<FakeModelServer> {
  const requests: ModelRequest[] = [];
  const thoughtful = new Set<string>();
  let received = 0;
  let backTimer: NodeJS.Timeout | undefined;
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new Promise<boolean>((resolve) => outgoing.once("close", () => resolve(!outgoing.writableFinished)));
    const request = await receive(incoming, gone);
    if (request === undefined) return send(outgoing, 404, { error: { message: "Not found", type: "not_found" } });
    if (options.keepsRequests !== false) requests.push(request);
    options.onRequest?.(request);
    const index = received++;
    if (options.apiKey !== undefined && keyOf(request) !== options.apiKey) {
      return refuse(outgoing, request, { do: "refuse", status: 401, message: "invalid api key" });
    }
    const message = findRefusal(request, thoughtful);
    if (message !== undefined) return refuse(outgoing, request, { do: "refuse", status: 400, message });
    const { replies } = options;
    const reply = typeof replies === "function" ? await replies(request, index) : (replies[index] ?? replies.at(-1));
    if (reply?.do === "say" && reply.thinking !== undefined)
      for (const { id } of toUtterance(reply, index).calls) thoughtful.add(id);
    await performReply(reply ?? { do: "cut" }, { outgoing, request, index, onSent: options.onSent, leave });
  }

  function leave(ms: number): void {
    backTimer = setTimeout(() => void listen(port).catch(console.error), ms);
    void stop();
  }

  await listen(options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    leave: stop,
    comeBack: () => listen(port),
    async close() {
      clearTimeout(backTimer);
      if (server.listening) await stop();
    },
  };
}

async function receive(incoming: IncomingMessage, isAbandoned: Promise<boolean>): Promise<ModelRequest | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const path = (incoming.url ?? "").replace(/\?.*$/, "");
  const api = apiOf(path);
  if (incoming.method !== "POST" || api === undefined) return undefined;
  const parsed: Json = parseExact(Buffer.concat(chunks).toString("utf8") || "{}");
  const body = isJsonObject(parsed) ? parsed : {};
  const inPath = /\/models\/([^/:]+):/.exec(path)?.[1];
  const isStream = body["stream"] === true || path.endsWith(":streamGenerateContent");
  const model = inPath ?? String(body["model"]);
  const shown = WORDS[api].toShown(body);
  return { api, path, headers: incoming.headers, body, model, isStream, shown, isAbandoned };
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
