import { randomUUID } from "node:crypto";
import { readRequestBody } from "@modelcontextprotocol/server";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

type Fetch = (request: Request, options?: { readonly parsedBody?: unknown }) => Promise<Response>;

const SESSION = "mcp-session-id";
/** Calls that can be cancelled at a time; of more, the oldest cannot any more. */
const MAX_CALLS = 1_000;
const ACCEPTED = 202;

/**
 * Clients of 2025 cancel a call with a message of its own, which reaches another server than the call, as each request has
 * one. So they get a session id, which says no more than whose calls are whose, and their call is broken off here.
 */
export class CancellablePosts {
  readonly #fetch: Fetch;
  readonly #calls = new Map<string, AbortController>();

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  async fetch(request: Request): Promise<Response> {
    // Later clients name the method in a header, and cancel by hanging up.
    if (request.method !== "POST" || request.headers.has("mcp-method")) return this.#fetch(request);
    const body = await readMessage(request.clone());
    if (body === undefined) return this.#fetch(request);
    const session = request.headers.get(SESSION);
    if (session === null) return this.#welcome(request, body);
    return isCancellation(body) ? this.#cancel(session, body) : this.#call(request, session, body);
  }

  async #welcome(request: Request, body: JsonObject): Promise<Response> {
    const response = await this.#fetch(request, { parsedBody: body });
    if (body["method"] !== "initialize" || !response.ok) return response;
    const headers = new Headers(response.headers);
    headers.set(SESSION, randomUUID());
    return new Response(response.body, { status: response.status, headers });
  }

  #call(request: Request, session: string, body: JsonObject): Promise<Response> {
    const call = new AbortController();
    this.#calls.set(toKey(session, body["id"]), call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest);
    const { url, method, headers } = request;
    const signal = AbortSignal.any([request.signal, call.signal]);
    return this.#fetch(new Request(url, { method, headers, signal }), { parsedBody: body });
  }

  #cancel(session: string, { params }: JsonObject): Response {
    const key = toKey(session, isJsonObject(params) ? params["requestId"] : undefined);
    this.#calls.get(key)?.abort();
    this.#calls.delete(key);
    return new Response(null, { status: ACCEPTED });
  }
}

/** Undefined: it is no single message, or too long; whoever gets the request says so. */
async function readMessage(request: Request): Promise<JsonObject | undefined> {
  try {
    const read = await readRequestBody(request);
    const body = read.tooLarge ? undefined : (JSON.parse(read.text) as Json);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function isCancellation({ method }: JsonObject): boolean {
  return method === "notifications/cancelled";
}

function toKey(session: string, id: Json | undefined): string {
  return JSON.stringify([session, id ?? null]);
}
