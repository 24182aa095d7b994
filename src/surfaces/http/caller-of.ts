import type { Context } from "hono";
import type { Caller } from "../../operations/requests/request-context.ts";
import type { HttpEnv } from "./http-parts.ts";
import { pathOf } from "./path-of.ts";

export function callerOf(c: Context<HttpEnv>): Caller {
  return { method: c.req.method, path: pathOf(c.req.raw.url), headers: Object.fromEntries(c.req.raw.headers) };
}
