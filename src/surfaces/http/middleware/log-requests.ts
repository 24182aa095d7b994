import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { HttpEnv, HttpParts } from "../http-parts.ts";

/** One entry for each request; no body, no path and no query. */
export function logRequests(log: HttpParts["log"]): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const beganAt = performance.now();
    await next();
    log({
      method: c.req.method,
      route: c.get("route") ?? patternOf(c),
      status: c.res.status,
      durationMs: Math.round(performance.now() - beganAt),
      // As it was sent back: that of the body can be any text.
      requestId: c.res.headers.get("x-request-id") ?? "",
      runId: c.get("runId"),
    });
  };
}

/** Of the handler that answered: middleware stands for every path. */
function patternOf(c: Context<HttpEnv>): string {
  return matchedRoutes(c).find(({ path }) => !path.endsWith("*"))?.path ?? "(none)";
}
