import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { writeExact } from "../../core/exact-json.ts";

/** As `c.json`, which knows no large integers. */
export function answerJson(c: Context, value: unknown, status: ContentfulStatusCode = 200): Response {
  return c.body(writeExact(value), status, { "content-type": "application/json" });
}
