import type { FetchLike } from "@modelcontextprotocol/client";
import type { Reach } from "../../../core/trust/grant.ts";
import type { Outbound } from "../../../ports/outbound.ts";
import type { HttpWay } from "../resolve-server.ts";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
const WITHOUT_BODY: readonly number[] = [101, 204, 205, 304];
const NEVER = new AbortController().signal;

/**
 * Asks for metadata and tokens. The server says where they are, so its word counts less than the operator's: beside the public
 * addresses its own host is asked, and that of the issuer that its entry names. Redirects are answers.
 */
export function createLoginFetch(way: HttpWay, outbound: Outbound): FetchLike {
  const reach = reachOf(way);
  return async (url, { method = "GET", headers, body } = {}) => {
    const answer = await outbound.request(
      {
        url: String(url),
        method: method === "POST" ? method : "GET",
        headers: Object.fromEntries(new Headers(headers)),
        ...(body === undefined || body === null ? {} : { body: String(body) }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        reach,
        maxRedirects: 0,
      },
      NEVER,
    );
    // No `TypeError`: the SDK takes it for a browser's, and asks again.
    if (!answer.ok) throw new Error(answer.message);
    const { status, headers: given } = answer;
    const kept = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
    const text = WITHOUT_BODY.includes(status) ? null : answer.body.toString("utf8");
    return new Response(text, { status, headers: kept as [string, string][] });
  };
}

function reachOf({ reach, url, oauth }: HttpWay): Reach {
  if (reach !== "anywhere") return reach;
  const issuer = URL.parse(oauth?.issuer ?? "");
  return [url.hostname, ...(issuer === null ? [] : [issuer.hostname])];
}
