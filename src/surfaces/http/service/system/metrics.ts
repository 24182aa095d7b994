import { PawlError } from "../../../../core/errors/pawl-error.ts";
import { defineEndpoint } from "../endpoint.ts";

/**
 * `GET /metrics`, as Prometheus reads it: for keys that may read and belong to no tenant, as the numbers are everybody's.
 * Without a key where that is configured, on loopback only.
 */
export const readMetrics = defineEndpoint({
  method: "GET",
  path: "/metrics",
  id: "readMetrics",
  summary: "What the server has counted, in the text format of Prometheus",
  tag: "system",
  scope: "read",
  isOpen: ({ app, isLoopback }) => isLoopback && app.config.settings.metrics.access === "open",
  answer: { mediaType: "text/plain" },
  async handle({ parts: { metrics }, c }) {
    if (c.get("key")?.tenantId !== undefined) {
      throw new PawlError("FORBIDDEN", { message: "The numbers are those of all tenants." });
    }
    if (metrics === undefined)
      throw new PawlError("PATH_NOT_FOUND", { message: "Nothing is counted: metrics.enabled." });
    return c.body(await metrics.text(), 200, { "content-type": metrics.contentType });
  },
});
