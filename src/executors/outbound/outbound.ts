import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Reach } from "../../core/trust/grant.ts";
import type {
  Outbound,
  OutboundAnswer,
  OutboundOpening,
  OutboundRequest,
  OutboundResult,
} from "../../ports/outbound.ts";
import { createFindWay, type FindWay, type OutboundOptions, pinned } from "./find-way.ts";
import { type MakeRequest, openThrough } from "./proxy.ts";

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Guards against forged requests (SSRF): every spelling and every resolved address is checked, redirects too, and only checked addresses are used. */
export function createOutbound(options: OutboundOptions): Outbound {
  const findUsual = createFindWay(options);
  const findWayTo = (reach: Reach = []) => (reach.length === 0 ? findUsual : createFindWay(options, reach));
  return {
    async open({ url, reach, onConnected, ...facts }, signal) {
      const parsed = reach === "anywhere" ? new URL(url) : parseUrl(url);
      const answer = await send(parsed, { ...facts, signal, onConnected: () => onConnected?.() }, findWayTo(reach));
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: answer };
    },
    async request(asked, signal) {
      const limit = AbortSignal.timeout(asked.timeoutMs);
      let wasSent = false;
      const onConnecting = () => {
        wasSent = true;
      };
      try {
        return await follow(asked, { signal: AbortSignal.any([signal, limit]), onConnecting }, findWayTo(asked.reach));
      } catch (error) {
        const failed = { ok: false, wasSent } as const;
        if (signal.aborted) return { ...failed, reason: "aborted", message: "The request was stopped." };
        const message = `There was no answer within ${asked.timeoutMs / 1_000} s.`;
        if (limit.aborted) return { ...failed, reason: "timedOut", message };
        if (isPawlError(error)) return { ...failed, reason: "refused", message: error.message };
        return { ...failed, reason: "unreachable", message: toReason(error) };
      }
    },
  };
}

interface Watched {
  readonly signal: AbortSignal;
  /** Some connection stands. */
  onConnecting?(): void;
  /** The same with TLS. */
  onConnected?(): void;
}

type Sent = Pick<OutboundOpening, "method" | "headers" | "body"> & Watched;

async function follow(asked: OutboundRequest, watched: Watched, findWay: FindWay): Promise<OutboundResult> {
  const { method = "GET", headers: given = {}, body } = asked;
  const first = parseUrl(asked.url);
  let url = first;
  for (let hops = 0; ; hops += 1) {
    // Headers that were meant for one origin are not sent to another.
    const own = url.origin === first.origin ? given : {};
    const headers = { "user-agent": "pawl", "accept-encoding": "gzip, deflate, br", ...own };
    const answer = await send(url, { ...watched, method, headers, ...(body === undefined ? {} : { body }) }, findWay);
    const { statusCode: status = 0 } = answer;
    const mayFollow = method === "GET" || method === "HEAD";
    const location = REDIRECTS.includes(status) && mayFollow ? answer.headers.location : undefined;
    if (location === undefined || asked.maxRedirects === 0) {
      const read = await readBody(answer, asked, watched.signal);
      return { ok: true, status, url: url.href, headers: answer.headers, ...read };
    }
    answer.destroy();
    if (hops >= asked.maxRedirects) throw refusal(`There were more than ${asked.maxRedirects} redirects.`);
    const next = parseUrl(location, url);
    if (url.protocol === "https:" && next.protocol === "http:")
      throw refusal(`${url.origin} redirects from https to http.`);
    url = next;
  }
}

async function send(url: URL, sent: Sent, findWay: FindWay): Promise<IncomingMessage> {
  const { method, headers, body, signal, onConnecting, onConnected } = sent;
  const makeRequest = await open(url, signal, findWay);
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    // A connection of its own: none that was opened under another answer of the resolver is used again.
    const request = makeRequest({ method, headers, signal, agent: false });
    request.on("socket", (socket) => {
      // Through a proxy it stands already, and only the proxy knows when the server is connected.
      if (!socket.connecting) onConnecting?.();
      if (!socket.connecting) onConnected?.();
      socket.once("connect", () => onConnecting?.());
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => onConnected?.());
    });
    request.on("response", resolve);
    request.on("error", reject);
    request.end(body);
  });
}

async function open(url: URL, signal: AbortSignal, findWay: FindWay): Promise<MakeRequest> {
  const way = await findWay(url, signal);
  if (way.proxy !== undefined) return openThrough(way.proxy, url, signal);
  const lookup = pinned(way.addresses);
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return (options) => request(url, { ...options, lookup });
}

function parseUrl(written: string, base?: URL): URL {
  const url = URL.parse(written, base?.href);
  if (url === null) throw refusal("This is no URL.");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refusal(`Only http and https are asked, not ${url.protocol.slice(0, 20)}`);
  if (url.username !== "" || url.password !== "") throw refusal("A URL with a user or a password is not asked.");
  return url;
}

function refusal(message: string): PawlError {
  return new PawlError("HTTP_NOT_ALLOWED", { message });
}

function toReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? `It cannot be reached: ${message}` : `It cannot be reached: ${code}.`;
}

/** Unpacks as it reads and stops at `maxBytes`: a few packed bytes may be as many as they like when unpacked. */
async function readBody(
  answer: IncomingMessage,
  { maxBytes, needsNoBody = false }: Pick<OutboundRequest, "maxBytes" | "needsNoBody">,
  signal: AbortSignal,
): Promise<{ readonly body: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let unpacked: Readable | undefined;
  const stop = () => answer.destroy(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    unpacked = unpack({ headers: answer.headers, body: answer });
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      const room = maxBytes - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += chunk.length;
      if (size > maxBytes) return { body: Buffer.concat(chunks), isCut: true };
    }
    return { body: Buffer.concat(chunks), isCut: false };
  } catch (error) {
    if (!needsNoBody) throw error;
    return { body: Buffer.concat(chunks), isCut: true };
  } finally {
    signal.removeEventListener("abort", stop);
    unpacked?.destroy();
    answer.destroy();
  }
}

export function unpack({ headers, body }: Pick<OutboundAnswer, "headers" | "body">): Readable {
  const unpacker = unpackerOf(headers["content-encoding"] ?? "identity");
  if (unpacker === undefined) return body;
  body.on("error", (error) => unpacker.destroy(error));
  return body.pipe(unpacker);
}

function unpackerOf(encoding: string) {
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    case "identity":
    case "":
      return undefined;
    default:
      throw new Error(`the answer is packed as ${encoding.slice(0, 40)}`);
  }
}
