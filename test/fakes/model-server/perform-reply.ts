import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { writeExact } from "../../../src/core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { ANTHROPIC_WORDS } from "./anthropic-words.ts";
import { CHAT_WORDS } from "./chat-words.ts";
import { GOOGLE_WORDS } from "./google-words.ts";
import {
  type ApiWords,
  type ModelApi,
  type ModelReply,
  type ModelRequest,
  type RefusedReply,
  type SaidReply,
  type StreamEvent,
  toUtterance,
} from "./model-reply.ts";
import { RESPONSES_WORDS } from "./responses-words.ts";

export const WORDS: Readonly<Record<ModelApi, ApiWords>> = {
  anthropic: ANTHROPIC_WORDS,
  chat: CHAT_WORDS,
  responses: RESPONSES_WORDS,
  google: GOOGLE_WORDS,
};

interface Exchange {
  readonly outgoing: ServerResponse;
  readonly request: ModelRequest;
  /** Of the request among all. */
  readonly index: number;
  /** Told of each event of a stream when it is sent. */
  readonly onSent?: ((event: StreamEvent) => void) | undefined;
  leave(ms: number): void;
}

/** Does what the script says with one request. What comes after the client has left is not sent. */
export async function performReply(reply: ModelReply, exchange: Exchange): Promise<void> {
  const { outgoing, request } = exchange;
  const gone = goneSignal(outgoing);
  if (reply.delayMs !== undefined && !(await slept(reply.delayMs, gone))) return;
  switch (reply.do) {
    case "say":
      return say(reply, exchange, gone);
    case "refuse":
      return refuse(outgoing, request, reply);
    case "send":
      outgoing.writeHead(200, { "content-type": "application/json" }).end(reply.body);
      return;
    case "cut":
      outgoing.destroy();
      return;
    case "leave":
      exchange.leave(reply.ms);
      return;
    case "hang":
      await request.isAbandoned;
  }
}

export function refuse(outgoing: ServerResponse, { api }: ModelRequest, reply: RefusedReply): void {
  const { status, message = "scripted refusal", headers = {} } = reply;
  send(outgoing, status, WORDS[api].toError(status, message), headers);
}

export function send(
  outgoing: ServerResponse,
  status: number,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(writeExact(body));
}

async function say(reply: SaidReply, { outgoing, request, index, onSent }: Exchange, gone: AbortSignal): Promise<void> {
  const words = WORDS[request.api];
  const said = toUtterance(reply, index);
  const { breaks, gapMs = 0, reshape = (data: JsonObject): Json => data } = reply;
  if (!request.isStream) return send(outgoing, 200, reshape(words.toDocument(said, request)));
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  for (const [nth, event] of words.toEvents(said, request).entries()) {
    if (nth > 0 && gapMs > 0 && !(await slept(gapMs, gone))) return;
    onSent?.(event);
    if (nth === breaks?.after && breaks.how === "end") return void outgoing.end();
    if (nth !== breaks?.after)
      outgoing.write(toSse(isJsonObject(event.data) ? { ...event, data: reshape(event.data) } : event));
    else if (breaks.how === "cut") return cutInside(outgoing, toSse(event));
    else outgoing.write(breaks.how === "garble" ? garbled(event) : toSse(words.toErrorEvent("Overloaded")));
  }
  outgoing.end(request.api === "chat" ? "data: [DONE]\n\n" : undefined);
}

/** Half an event arrives, then the connection is destroyed: no proper end of the chunked body. */
function cutInside(outgoing: ServerResponse, event: string): void {
  outgoing.write(event.slice(0, Math.ceil(event.length / 2)), () => outgoing.destroy());
}

function garbled(event: StreamEvent): string {
  return toSse(event).replace("data: {", "data: {{");
}

function toSse({ event, data }: StreamEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${writeExact(data)}\n\n`;
}

function goneSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  return gone.signal;
}

/** False: the client has left meanwhile. */
async function slept(ms: number, gone: AbortSignal): Promise<boolean> {
  await delay(ms, undefined, { signal: gone }).catch(() => undefined);
  return !gone.aborted;
}
