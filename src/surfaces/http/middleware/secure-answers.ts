import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "../http-parts.ts";

/** On every answer, where the route does not say otherwise: nothing is guessed, framed, kept or told on. */
const HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": "frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;

export const secureAnswers: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};
