import type { MiddlewareHandler } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpEnv } from "../http-parts.ts";

/** A body that is announced as too large is refused on every path, also where nobody would read it. */
export function limitBodies(maxBytes: number): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    if (Number(c.req.header("content-length") ?? 0) > maxBytes) {
      throw new PawlError("BODY_TOO_LARGE", { message: `The body is larger than ${maxBytes} bytes.` });
    }
    await next();
  };
}
