import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpEnv } from "../http-parts.ts";

/** The header of endpoints that may cost money. A client that has lost the answer asks again with the same key. */
export const IDEMPOTENCY_HEADER = {
  "Idempotency-Key": "The same key with the same request has the same run for 24 hours.",
} as const;

/** The key that a request bears, in its header or its body. Throws `REQUEST_INVALID`. */
export function readIdempotencyKey(c: Context<HttpEnv>, sent: string | undefined): string | undefined {
  const header = c.req.header("idempotency-key");
  if (header !== undefined && sent !== undefined && header !== sent) {
    throw new PawlError("REQUEST_INVALID", { message: "The header and the body name two idempotency keys." });
  }
  const key = header ?? sent;
  if (key === undefined || /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new PawlError("REQUEST_INVALID", { message: "An idempotency key has 1 to 255 printable ASCII characters." });
}
