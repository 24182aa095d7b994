import type { Context } from "hono";
import type { HttpEnv } from "./http-parts.ts";

/**
 * A header of the answer that the route has made, unless it says otherwise itself. Node is told at once where it is there: a
 * `Response` that is asked for its headers makes objects that have to be sorted and read again, which costs a tenth of a
 * short request.
 */
export function putHeader(c: Context<HttpEnv>, name: string, value: string): void {
  // Nothing is bound where a request comes by a function call.
  const { outgoing } = (c.env as Partial<HttpEnv["Bindings"]> | undefined) ?? {};
  if (outgoing !== undefined) outgoing.setHeader(name, value);
  else if (!c.res.headers.has(name)) c.res.headers.set(name, value);
}
