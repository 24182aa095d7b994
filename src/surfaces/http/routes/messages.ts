import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Ports, Principal } from "../../../operations/application/ports.ts";
import { resolveTrustedContext } from "../../../operations/requests/request-context.ts";
import { deriveRunId } from "../../../operations/start/derive-run-id.ts";
import { type Delivery, deliverMessage } from "../../../operations/triggers/deliver-message.ts";
import { answerJson } from "../answer-json.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { callerOf, idempotencyKeyOf, pathOf } from "../path-of.ts";
import { readJsonBody } from "../read-body.ts";

/** `POST /queues/{name}/messages`: starts a run in every workflow of the queue, once for each message id. */
export async function deliverToQueue(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const queueName = c.req.param("name") ?? "";
  const app = parts.appFor(c);
  const armed = (await parts.triggers(app.tenantId)).queues.get(queueName);
  if (armed === undefined) {
    throw new PawlError("QUEUE_UNKNOWN", { message: `No workflow is triggered by the queue "${queueName}".` });
  }
  const body = await readMessage(parts, c);
  return deliver(parts, c, app, body, (messageId) => ({
    targets: armed.map(({ target }) => target),
    requestData: { source: "queue", queueDetails: { queueName, messageId, payload: body["payload"] ?? {} } },
    runIdFor: (workflow) => deriveRunId("queue", ...namespaceOf(app), queueName, messageId, workflow),
  }));
}

/** `POST /triggers/{event}`: the same for an event, in the workflows that listen to its sender. */
export async function deliverEvent(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const triggerEvent = c.req.param("event") ?? "";
  const app = parts.appFor(c);
  const armed = (await parts.triggers(app.tenantId)).events.get(triggerEvent);
  if (armed === undefined) {
    throw new PawlError("EVENT_UNKNOWN", { message: `No workflow is triggered by the event "${triggerEvent}".` });
  }
  const body = await readMessage(parts, c);
  const sourceAppId = textOf(body, "sourceAppId");
  const isMeant = (wanted: string | undefined) => wanted === undefined || wanted === sourceAppId;
  const triggerDetails = {
    ...(sourceAppId === undefined ? {} : { sourceAppId }),
    triggerEvent,
    payload: body["payload"] ?? {},
  };
  return deliver(parts, c, app, body, (messageId) => ({
    targets: armed.filter(({ trigger }) => isMeant(trigger.sourceAppId)).map(({ target }) => target),
    requestData: { source: "trigger", triggerDetails },
    runIdFor: (workflow) =>
      deriveRunId("event", ...namespaceOf(app), triggerEvent, sourceAppId ?? "", messageId, workflow),
  }));
}

/** Tenants number their messages each for itself. */
function namespaceOf({ tenantId }: Principal): readonly string[] {
  return tenantId === undefined ? [] : [tenantId];
}

type Message = Pick<Delivery, "targets" | "requestData" | "runIdFor">;

/** `app`: the application as the sender sees it: runs are the sender's. A message has one id for each key that it is sent with. */
async function deliver(
  parts: HttpParts,
  c: Context<HttpEnv>,
  app: Ports,
  body: JsonObject,
  toMessage: (messageId: string) => Message,
): Promise<Response> {
  const { runner, checker, submissions } = parts;
  const trusted = await resolveTrustedContext(parts.app, runner, callerOf(c));
  const traceId = c.get("traceId");
  const request = { key: idempotencyKeyOf(c), asked: { path: pathOf(c.req.url), body }, id: textOf(body, "messageId") };
  return submissions.underOneId(app, request, async (message_id, claim) => {
    const runs = await deliverMessage(
      { app, runner, checker },
      {
        ...toMessage(message_id),
        claim,
        traceParent: c.req.header("traceparent"),
        requestId: c.get("requestId"),
        context: { ...(traceId === undefined ? {} : { traceId }), ...trusted },
      },
    );
    return answerJson(c, { data: { message_id, runs }, error: null }, 202);
  });
}

async function readMessage({ app }: HttpParts, c: Context<HttpEnv>): Promise<JsonObject> {
  const body = await readJsonBody(c.req.raw, app.config.settings.server.max_body_bytes);
  if (isJsonObject(body)) return body;
  throw new PawlError("REQUEST_INVALID", { message: "The body must be an object with a `payload`." });
}

function textOf(body: JsonObject, name: string): string | undefined {
  const value: Json | undefined = Object.hasOwn(body, name) ? body[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new PawlError("REQUEST_INVALID", { message: `\`${name}\` must be a text.` });
}
