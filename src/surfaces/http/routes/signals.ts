import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject } from "../../../core/json.ts";
import { sendSignal } from "../../../operations/send-signal.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { readJsonBody } from "../read-body.ts";

/** `POST /runs/{id}/signals` with `{name, payload}`: the event that a run waits for has happened. */
export async function receiveSignal({ app }: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const body = await readJsonBody(c.req.raw, app.config.settings.server.max_body_bytes);
  const name = isJsonObject(body) && Object.hasOwn(body, "name") ? body["name"] : undefined;
  if (!isJsonObject(body) || typeof name !== "string" || name === "") {
    throw new PawlError("REQUEST_INVALID", { message: "The body must be an object with a `name` and a `payload`." });
  }
  const payload = Object.hasOwn(body, "payload") ? (body["payload"] ?? null) : null;
  const { id } = await sendSignal(app, c.req.param("id") ?? "", { name, payload });
  return c.json({ data: { run_id: id, name }, error: null }, 202);
}
