import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpEnv } from "../http-parts.ts";

/** A body that is announced as too large is refused on every path, also where nobody would read it. Throws `BODY_TOO_LARGE`. */
export function limitBody(c: Context<HttpEnv>, maxBytes: number): void {
  if (Number(c.req.header("content-length") ?? 0) <= maxBytes) return;
  throw new PawlError("BODY_TOO_LARGE", { message: `The body is larger than ${maxBytes} bytes.` });
}
