import type { MiddlewareHandler } from "hono";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { pathOf } from "../path-of.ts";

/** One line for each request; no body and no query. */
export function logRequests(log: HttpParts["log"]): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const beganAt = performance.now();
    await next();
    log({
      method: c.req.method,
      path: pathOf(c.req.raw.url),
      status: c.res.status,
      durationMs: Math.round(performance.now() - beganAt),
      // As it was sent back: that of the body can be any text.
      requestId: c.res.headers.get("x-request-id") ?? "",
      runId: c.get("runId"),
    });
  };
}
