import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Reach } from "../../core/trust/grant.ts";
import type { Outbound } from "../../ports/outbound.ts";
import { unpack } from "./outbound.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const NEVER = new AbortController().signal;
const WITHOUT_BODY: readonly number[] = [101, 204, 205, 304];

/** `fetch` through the one way out, for libraries that want one. Bodies of requests are texts; redirects are answers. */
export function toFetch(outbound: Outbound, reach: Reach): Fetch {
  return async (url, { method = "GET", headers, body, signal } = {}) => {
    const answer = await outbound.open(
      {
        url: String(url),
        method,
        headers: { "accept-encoding": "identity", ...Object.fromEntries(new Headers(headers)) },
        reach,
        ...(typeof body === "string" ? { body } : {}),
      },
      signal ?? NEVER,
    );
    const { status } = answer;
    const isEmpty = WITHOUT_BODY.includes(status) || method === "HEAD";
    if (isEmpty) answer.body.destroy();
    const stream = isEmpty ? null : (Readable.toWeb(unpack(answer)) as globalThis.ReadableStream);
    return new Response(stream, { status, headers: toHeaders(answer.headers) });
  };
}

function toHeaders(given: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(given))
    for (const value of [values ?? []].flat()) if (name !== "content-encoding") headers.append(name, value);
  return headers;
}
