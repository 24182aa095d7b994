import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { HttpEnv } from "../http-parts.ts";

/** Pages of these origins may read answers and send keys; no cookies. */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler<HttpEnv> {
  return cors({
    origin: [...origins],
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposeHeaders: ["x-request-id", "x-run-id", "retry-after", "mcp-session-id"],
    maxAge: 600,
  });
}
