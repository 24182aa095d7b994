import { randomUUID } from "node:crypto";
import { isJsonContentType, ProtocolErrorCode, SdkError, SdkErrorCode } from "@modelcontextprotocol/server";
import { BoundedMap } from "../../core/bounded-map.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { NumberTooLarge } from "../../core/long-integers.ts";
import { parseMarked, type UserFields } from "../../core/marked-json.ts";

export interface Forwarded {
  /** The body, if it has been read already. */
  readonly parsedBody?: Json;
  readonly cancelled?: AbortSignal;
}

type Forward = (request: Request, forwarded: Forwarded) => Promise<Response>;

export const SESSION = "mcp-session-id";
/** Calls that can be cancelled at a time; of more, the oldest cannot any more. */
const MAX_CALLS = 10_000;
const ACCEPTED = 202;
/** Where clients say what they give to a tool. */
export const ARGUMENTS: UserFields = new Set(["arguments"]);

/**
 * Clients of 2025 cancel a call with a message of its own, which reaches another server than the call, as each request has
 * one. So they get a session id, which says no more than whose calls are whose, and their call is broken off here.
 */
export class CancellablePosts {
  readonly #maxBodyBytes: number;
  readonly #isHeld: (session: string, caller: string) => boolean;
  readonly #calls = new BoundedMap<string, AbortController>(MAX_CALLS);
  readonly #closed = new AbortController();

  /** `isHeld`: a server lasts as long as this session, and hears itself what is cancelled. */
  constructor(maxBodyBytes: number, isHeld: (session: string, caller: string) => boolean) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#isHeld = isHeld;
  }

  /** A caller cannot cancel the calls of another one, whatever session it names. */
  async fetch(request: Request, caller: string, forward: Forward): Promise<Response> {
    const { method, headers } = request;
    if (method !== "POST" || !isJsonContentType(headers.get("content-type"))) return forward(request, {});
    const post = await readPost(request, this.#maxBodyBytes);
    if ("refusal" in post) return post.refusal;
    const { body } = post;
    const session = headers.get(SESSION);
    if (!isJsonObject(body) || session === null) return this.#welcome(request, body, forward);
    if (this.#isHeld(session, caller)) return forward(this.#withoutBody(request), { parsedBody: body });
    const toKey = (id: Json | undefined) => writeExact([caller, session, id ?? null]);
    if (body.method === "notifications/cancelled") return this.#cancel(toKey(requestIdOf(body)));
    return this.#call(request, { key: toKey(body["id"]), body }, forward);
  }

  /** Breaks off the calls of these clients: no other caller holds their servers. */
  close(): void {
    this.#closed.abort(new SdkError(SdkErrorCode.ConnectionClosed, "The server ends."));
  }

  /** Clients of 2026 never name a session: they cancel by hanging up. */
  async #welcome(request: Request, body: Json, forward: Forward): Promise<Response> {
    const response = await forward(this.#withoutBody(request), { parsedBody: body });
    const isFirst = isJsonObject(body) && body["method"] === "initialize" && !response.headers.has(SESSION);
    if (!isFirst || !response.ok) return response;
    const headers = new Headers(response.headers);
    headers.set(SESSION, randomUUID());
    return new Response(response.body, { status: response.status, headers });
  }

  #call(
    request: Request,
    { key, body }: { readonly key: string; readonly body: JsonObject },
    forward: Forward,
  ): Promise<Response> {
    const call = new AbortController();
    this.#calls.set(key, call);
    return forward(this.#withoutBody(request, call.signal), { parsedBody: body, cancelled: call.signal });
  }

  #withoutBody({ url, method, headers, signal }: Request, ...more: readonly AbortSignal[]): Request {
    return new Request(url, { method, headers, signal: AbortSignal.any([signal, this.#closed.signal, ...more]) });
  }

  #cancel(key: string): Response {
    this.#calls.get(key)?.abort();
    this.#calls.delete(key);
    return new Response(null, { status: ACCEPTED });
  }
}

function requestIdOf({ params }: JsonObject): Json | undefined {
  return isJsonObject(params) ? params["requestId"] : undefined;
}

/** The body of a request, or the answer to a request that cannot be read. */
type Post = { readonly body: Json } | { readonly refusal: Response };

const TOO_LARGE = -32_000;

/** No more than the limit is ever in memory. */
async function readPost(request: Request, maxBytes: number): Promise<Post> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes === undefined) return refuse(413, TOO_LARGE, `The body is larger than ${maxBytes} bytes.`);
  try {
    return { body: parseMarked(new TextDecoder("utf-8", { fatal: true }).decode(bytes), ARGUMENTS) };
  } catch (error) {
    const flaw = error instanceof NumberTooLarge ? error.message : "the body is not JSON in UTF-8";
    return refuse(400, ProtocolErrorCode.ParseError, `Parse error: ${flaw}.`);
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refuse(status: number, code: number, message: string): Post {
  return { refusal: Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status }) };
}
