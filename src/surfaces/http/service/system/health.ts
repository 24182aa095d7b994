import type { Context } from "hono";
import { z } from "zod";
import type { HttpEnv, HttpParts } from "../../http-parts.ts";
import { defineEndpoint } from "../endpoint.ts";

const partHealth = z.enum(["ok", "error", "off"]).describe("`off`: not configured.");

/** `GET /health`: 200 also where a part is in trouble, for the service answers; `status` tells. */
export const getHealth = defineEndpoint({
  method: "GET",
  path: "/health",
  id: "getHealth",
  summary: "How the service and what it stands on are",
  tag: "system",
  scope: "open",
  answer: z.object({
    status: z.enum(["ok", "degraded"]),
    sandstorm: partHealth,
    redis: partHealth,
    db: partHealth,
  }),
  handle: ({ parts, c }) => answerHealth(parts, c),
});

/** `status` at the top as well, where monitors of the original look for it. */
async function answerHealth(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const { sandstorm, redis, db } = await parts.checkHealth();
  const status = [sandstorm, redis, db].includes("error") ? "degraded" : "ok";
  return c.json({ status, data: { status, sandstorm, redis, db }, error: null });
}
