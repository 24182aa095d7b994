import type { Context } from "hono";
import type { HttpEnv } from "../http-parts.ts";
import { putHeader } from "../put-header.ts";

/** On every answer, where the route does not say otherwise: nothing is guessed, framed, kept or told on. */
const HEADERS = Object.entries({
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": "frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
});

export function secureAnswer(c: Context<HttpEnv>): void {
  for (const [name, value] of HEADERS) putHeader(c, name, value);
}
