import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";

/**
 * `GET /metrics`, as Prometheus reads it: for keys that may read and belong to no tenant, as the numbers are everybody's.
 * Without a key where that is configured, on loopback only.
 */
export async function answerMetrics(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const { metrics, app, isLoopback } = parts;
  const isOpen = app.config.settings.metrics.access === "open" && isLoopback;
  await parts.authorize(c, isOpen ? "open" : "read");
  if (c.get("key")?.tenantId !== undefined) {
    throw new PawlError("FORBIDDEN", { message: "The numbers are those of all tenants." });
  }
  if (metrics === undefined) throw new PawlError("PATH_NOT_FOUND", { message: "Nothing is counted: metrics.enabled." });
  return c.body(await metrics.text(), 200, { "content-type": metrics.contentType });
}
