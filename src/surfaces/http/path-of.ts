import type { Context } from "hono";
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
