import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Outbound, OutboundRequest, OutboundResult } from "../../ports/outbound.ts";
import { untilAborted } from "../until-aborted.ts";
import { type AddressRule, createAddressRule } from "./address-rule.ts";
import { findProxy, type MakeRequest, openThrough, portOf } from "./proxy.ts";

export interface OutboundOptions {
  /** Hosts, addresses and networks that are asked though they are not public; for local development. */
  readonly allow: readonly string[];
  /** Every address of a name. */
  resolve?(host: string): Promise<readonly LookupAddress[]>;
  /** Its proxy variables count. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Guards against requests forged through us (SSRF): literal addresses are checked in every spelling, names by all that
 * they resolve to, and the connection goes to exactly the addresses that were checked, so that a name which says
 * something else a moment later gains nothing. Each redirect is checked anew. A proxy resolves names itself: behind one
 * only the text of a name can be checked.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const { environment = {} } = options;
  const rule = createAddressRule(options.allow);
  const resolve = options.resolve ?? ((host: string) => lookup(host, { all: true, verbatim: true }));
  return {
    async request(asked, signal) {
      const limit = AbortSignal.timeout(asked.timeoutMs);
      const way = { rule, resolve, environment, signal: AbortSignal.any([signal, limit]), wasSent: false };
      try {
        return await follow(asked, way);
      } catch (error) {
        const failed = { ok: false, wasSent: way.wasSent } as const;
        if (signal.aborted) return { ...failed, reason: "aborted", message: "The request was stopped." };
        const message = `There was no answer within ${asked.timeoutMs / 1_000} s.`;
        if (limit.aborted) return { ...failed, reason: "timedOut", message };
        if (error instanceof Refusal) return { ...failed, reason: "refused", message: error.message };
        return { ...failed, reason: "unreachable", message: toReason(error) };
      }
    },
  };
}

class Refusal extends Error {}

interface Way {
  readonly rule: AddressRule;
  resolve(host: string): Promise<readonly LookupAddress[]>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  wasSent: boolean;
}

async function follow(asked: OutboundRequest, way: Way): Promise<OutboundResult> {
  let url = parseUrl(asked.url);
  for (let hops = 0; ; hops += 1) {
    const answer = await send(url, asked, way);
    const { statusCode: status = 0, headers } = answer;
    const mayFollow = asked.method === undefined || asked.method === "GET" || asked.method === "HEAD";
    const location = REDIRECTS.includes(status) && mayFollow ? headers.location : undefined;
    if (location === undefined || asked.maxRedirects === 0) {
      return { ok: true, status, url: url.href, headers, ...(await readBody(answer, asked, way.signal)) };
    }
    answer.destroy();
    if (hops >= asked.maxRedirects) throw new Refusal(`There were more than ${asked.maxRedirects} redirects.`);
    const next = parseUrl(location, url);
    if (url.protocol === "https:" && next.protocol === "http:")
      throw new Refusal(`${url.origin} redirects from https to http.`);
    url = next;
  }
}

async function send(url: URL, asked: OutboundRequest, way: Way): Promise<IncomingMessage> {
  const { method = "GET", headers = {}, body } = asked;
  const makeRequest = await open(url, way);
  way.signal.throwIfAborted();
  // Headers that were meant for one origin are not sent to another.
  const own = url.origin === parseUrl(asked.url).origin ? headers : {};
  return new Promise((resolve, reject) => {
    const sent = makeRequest({
      method,
      headers: { "user-agent": "pawl", "accept-encoding": "gzip, deflate, br", ...own },
      signal: way.signal,
      // A connection of its own: none that was opened under another answer of the resolver is used again.
      agent: false,
    });
    sent.on("socket", (socket) => {
      // Through a proxy it stands already.
      if (!socket.connecting) way.wasSent = true;
      socket.once("connect", () => {
        way.wasSent = true;
      });
    });
    sent.on("response", resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

async function open(url: URL, way: Way): Promise<MakeRequest> {
  const proxy = findProxy(url, way.environment);
  if (proxy !== undefined) {
    checkName(url, way);
    return openThrough(proxy, url, way.signal);
  }
  const lookup = pinned(await findAddresses(url, way));
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return (options) => request(url, { ...options, lookup });
}

function parseUrl(written: string, base?: URL): URL {
  const url = URL.parse(written, base?.href);
  if (url === null) throw new Refusal("This is no URL.");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new Refusal(`Only http and https are asked, not ${url.protocol.slice(0, 20)}`);
  if (url.username !== "" || url.password !== "") throw new Refusal("A URL with a user or a password is not asked.");
  return url;
}

/** The URL parser has made one spelling of all: `http://2130706433/` is 127.0.0.1 here. */
function hostOf(url: URL): { readonly host: string; readonly port: number } {
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(portOf(url)) };
}

async function findAddresses(url: URL, { rule, resolve, signal }: Way): Promise<readonly LookupAddress[]> {
  const { host, port } = hostOf(url);
  const family = isIP(host);
  const found = family === 0 ? await untilAborted(resolve(host), signal) : [{ address: host, family }];
  if (found.length === 0) throw new Error(`${host} has no address.`);
  if (!rule.allowsHost(host, port) && !found.every(({ address }) => rule.allowsAddress(address, port)))
    throw notPublic(url);
  return found;
}

/** All that can be checked where a proxy resolves the name. */
function checkName(url: URL, { rule }: Way): void {
  const { host, port } = hostOf(url);
  if (rule.allowsHost(host, port)) return;
  if (!(isIP(host) === 0 ? rule.allowsName(host, port) : rule.allowsAddress(host, port))) throw notPublic(url);
}

function notPublic({ host }: URL): Refusal {
  return new Refusal(`${host} is not a public address, or not a port that is asked.`);
}

/** The connection goes where the check has looked. */
function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
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
    unpacked = unpack(answer);
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

function unpack(answer: IncomingMessage): Readable {
  const unpacker = unpackerOf(answer.headers["content-encoding"] ?? "identity");
  if (unpacker === undefined) return answer;
  answer.on("error", (error) => unpacker.destroy(error));
  return answer.pipe(unpacker);
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
