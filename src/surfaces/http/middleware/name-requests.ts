import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "../http-parts.ts";

/** Printable and short: it is written to logs and sent back. */
const USABLE = /^[\x21-\x7e]{1,200}$/;

/** Every request has an id: that of `X-Request-ID`, which is sent back, or a new one. */
export const nameRequests: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const sent = usable(c.req.header("x-request-id"));
  const own = sent ?? randomUUID();
  c.set("sentRequestId", sent);
  c.set("requestId", own);
  c.set("traceId", usable(c.req.header("x-trace-id")));
  await next();
  // By now it may be what the body says, which can be any text.
  c.res.headers.set("x-request-id", sent ?? usable(c.get("requestId")) ?? own);
  const runId = c.get("runId");
  if (runId !== undefined) c.res.headers.set("x-run-id", runId);
};

function usable(id: string | undefined): string | undefined {
  return id !== undefined && USABLE.test(id) ? id : undefined;
}
