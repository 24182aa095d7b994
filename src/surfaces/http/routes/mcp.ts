import type { Context } from "hono";
import type { HttpEnv, HttpParts } from "../http-parts.ts";

/** `/mcp`: every key can read; what else a tool needs, the tool asks for. */
export async function answerMcp(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  await parts.authorize(c, "read");
  return parts.mcp(c.req.raw, parts.callerFor(c));
}
