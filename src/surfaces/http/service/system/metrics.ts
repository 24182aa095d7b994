import { PawlError } from "../../../../core/errors/pawl-error.ts";
import type { HttpParts } from "../../http-parts.ts";
import type { Asked } from "../serve-operation.ts";

/** Answers in Prometheus' format. A tenant's key is refused: the numbers are about everybody. */
export async function serveMetrics({ parts: { metrics }, c }: Asked): Promise<Response> {
  if (c.get("key")?.tenantId !== undefined) {
    throw new PawlError("FORBIDDEN", { message: "The numbers are those of all tenants." });
  }
  if (metrics === undefined) throw new PawlError("PATH_NOT_FOUND", { message: "Nothing is counted: metrics.enabled." });
  return c.body(await metrics.text(), 200, { "content-type": metrics.contentType });
}

/** Without a key where that is configured, on loopback only. */
export function isMetricsOpen({ app, isLoopback }: HttpParts): boolean {
  return isLoopback && app.config.settings.metrics.access === "open";
}
