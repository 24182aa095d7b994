import type { Context } from "hono";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Caller } from "../../operations/requests/request-context.ts";
import type { HttpEnv } from "./http-parts.ts";

/** The path of a URL as it was sent, without query. Nothing is decoded. */
export function pathOf(url: string): string {
  return targetOf(url).split("?", 1)[0] ?? "/";
}

/** Path and query of a URL as they were sent. */
export function targetOf(url: string): string {
  const afterScheme = url.indexOf("://");
  const slash = url.indexOf("/", afterScheme < 0 ? 0 : afterScheme + 3);
  const target = slash < 0 ? "/" : url.slice(slash);
  const hash = target.indexOf("#");
  return hash < 0 ? target : target.slice(0, hash);
}

export function callerOf(c: Context<HttpEnv>): Caller {
  return { method: c.req.method, path: pathOf(c.req.raw.url), headers: Object.fromEntries(c.req.raw.headers) };
}

/** The key that a request bears in its header; `sent`: in its body. Throws `REQUEST_INVALID`. */
export function idempotencyKeyOf(c: Context<HttpEnv>, sent?: string): string | undefined {
  const header = c.req.header("idempotency-key");
  if (header !== undefined && sent !== undefined && header !== sent)
    throw new PawlError("REQUEST_INVALID", { message: "The header and the body name two idempotency keys." });
  const key = header ?? sent;
  if (key === undefined || /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new PawlError("REQUEST_INVALID", { message: "An idempotency key has 1 to 255 printable ASCII characters." });
}
