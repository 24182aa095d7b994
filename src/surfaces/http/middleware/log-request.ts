import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { HttpEnv, HttpParts } from "../http-parts.ts";

/** One entry for each request; no body, no path and no query. */
export function logRequest(c: Context<HttpEnv>, log: HttpParts["log"], beganAt: number): void {
  log({
    method: c.req.method,
    route: c.get("route") ?? patternOf(c),
    status: c.res.status,
    durationMs: Math.round(performance.now() - beganAt),
    requestId: c.get("requestId"),
    runId: c.get("runId"),
  });
}

/** The path of the handler that answered. Middleware matches every path. */
function patternOf(c: Context<HttpEnv>): string {
  return matchedRoutes(c).find(({ path }) => !path.endsWith("*"))?.path ?? "(none)";
}
