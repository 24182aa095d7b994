import type { Context } from "hono";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { HttpEnv, HttpParts } from "./http-parts.ts";

/** Checks the key, and refuses with the words and codes of the original host. Throws `UNAUTHORIZED`, `FORBIDDEN`. */
export async function authorizeAgents(parts: Pick<HttpParts, "authorize">, c: Context<HttpEnv>): Promise<void> {
  try {
    await parts.authorize(c, "run");
  } catch (error) {
    if (!isPawlError(error) || error.code !== "UNAUTHORIZED") throw error;
    const isWithout = (c.req.header("x-api-key") || c.req.header("authorization") || "") === "";
    if (isWithout) throw new PawlError("UNAUTHORIZED", { message: "API key required in X-API-Key header" });
    throw new PawlError("FORBIDDEN", { message: "Invalid API Key", remedy: "Send the key that API_KEY sets." });
  }
}
