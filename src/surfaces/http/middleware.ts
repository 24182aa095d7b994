import { randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { matchedRoutes } from "hono/route";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { HttpEnv, HttpParts } from "./http-parts.ts";

/** Printable and short: it is written to logs and sent back. */
const USABLE = /^[\x21-\x7e]{1,200}$/;

interface RequestName {
  /** In `X-Request-ID`. */
  readonly sent: string | undefined;
  readonly own: string;
}

/** Every request has an id: the one that it was sent with, or a new one. */
export function nameRequest(c: Context<HttpEnv>): RequestName {
  const sent = usable(c.req.header("x-request-id"));
  const own = sent ?? randomUUID();
  c.set("requestId", own);
  c.set("traceId", usable(c.req.header("x-trace-id")));
  return { sent, own };
}

/** An id that was sent is sent back. Otherwise it may by now be what the body says, which can be any text. */
export function tellNames(c: Context<HttpEnv>, { sent, own }: RequestName): void {
  const requestId = sent ?? usable(c.get("requestId")) ?? own;
  c.set("requestId", requestId);
  putHeader(c, "x-request-id", requestId);
  const runId = c.get("runId");
  if (runId !== undefined) putHeader(c, "x-run-id", runId);
}

function usable(id: string | undefined): string | undefined {
  return id !== undefined && USABLE.test(id) ? id : undefined;
}

/**
 * A header of the answer that the route has made, unless it says otherwise itself. Node is told at once where it is there: a
 * `Response` that is asked for its headers makes objects that have to be sorted and read again, which costs a tenth of a
 * short request.
 */
function putHeader(c: Context<HttpEnv>, name: string, value: string): void {
  // Nothing is bound where a request comes by a function call.
  const { outgoing } = (c.env as Partial<HttpEnv["Bindings"]> | undefined) ?? {};
  if (outgoing !== undefined) outgoing.setHeader(name, value);
  else if (!c.res.headers.has(name)) c.res.headers.set(name, value);
}

/** On every answer, where the route does not say otherwise: nothing is guessed, framed, kept or told on. */
const HEADERS = Object.entries({
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": "frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
});

export function secureAnswer(c: Context<HttpEnv>): void {
  for (const [name, value] of HEADERS) putHeader(c, name, value);
}

/**
 * On loopback every caller that can reach the port is trusted, and that includes every page that the user's browser shows: a page
 * elsewhere, be it on another port of this machine, may neither be pointed at this address (`Host`) nor send requests to it
 * (`Origin`). What it returns throws `HOST_REFUSED`.
 */
export function checkHost(
  hosts: HttpParts["hosts"],
  allowedOrigins: readonly string[] = [],
): (c: Context<HttpEnv>) => void {
  // Nearly every request names the same host, which need not be read again.
  let lastGood: string | undefined;
  return (c) => {
    if (hosts === undefined) return;
    const host = c.req.header("host");
    if (host !== undefined && host !== lastGood && !hosts.has(hostOf(`http://${host}`)))
      throw new PawlError("HOST_REFUSED", { message: "The host that the request names is not this machine." });
    lastGood = host;
    const origin = c.req.header("origin");
    if (origin !== undefined && origin !== `http://${host}` && !allowedOrigins.includes(origin))
      throw new PawlError("HOST_REFUSED", {
        message: "Pages of other origins may not send requests here.",
        remedy: "List the origin, with its scheme and its port, under `server.cors_origins`.",
      });
  };
}

/** Names under which this machine is reached from itself. */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

/** A body that is announced as too large is refused on every path, also where it would not be read. Throws `BODY_TOO_LARGE`. */
export function limitBody(c: Context<HttpEnv>, maxBytes: number): void {
  if (Number(c.req.header("content-length") ?? 0) <= maxBytes) return;
  throw new PawlError("BODY_TOO_LARGE", { message: `The body is larger than ${maxBytes} bytes.` });
}

/** Pages of these origins may read answers and send keys; no cookies. */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler<HttpEnv> {
  return cors({
    origin: [...origins],
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposeHeaders: ["x-request-id", "x-run-id", "retry-after", "mcp-session-id"],
    maxAge: 600,
  });
}

/** One entry for each request; no body, no path and no query. */
export function logRequest(c: Context<HttpEnv>, log: HttpParts["log"], beganAt: number): void {
  log({
    method: c.req.method,
    // The path of the handler that answered. Middleware matches every path.
    route: c.get("route") ?? matchedRoutes(c).find(({ path }) => !path.endsWith("*"))?.path ?? "(none)",
    status: c.res.status,
    durationMs: Math.round(performance.now() - beganAt),
    requestId: c.get("requestId"),
    runId: c.get("runId"),
  });
}
