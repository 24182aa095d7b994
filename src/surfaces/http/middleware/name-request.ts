import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { HttpEnv } from "../http-parts.ts";
import { putHeader } from "../put-header.ts";

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
