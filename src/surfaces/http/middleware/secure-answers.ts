import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "../http-parts.ts";

/** On every answer, where the route does not say otherwise: nothing is guessed, framed, kept or told on. */
const HEADERS = Object.entries({
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "content-security-policy": "frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
});

export const secureAnswers: MiddlewareHandler<HttpEnv> = async (c, next) => {
  await next();
  const { headers } = c.res;
  for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value);
};
