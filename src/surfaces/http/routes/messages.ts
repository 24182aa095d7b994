import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Ports, Principal } from "../../../operations/application/ports.ts";
import { resolveTrustedContext } from "../../../operations/requests/request-context.ts";
import { deriveRunId } from "../../../operations/start/derive-run-id.ts";
import { type Delivery, deliverMessage } from "../../../operations/triggers/deliver-message.ts";
import { answerJson } from "../answer-json.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { callerOf } from "../path-of.ts";
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
  const messageId = textOf(body, "messageId") ?? randomUUID();
  const queueDetails = { queueName, messageId, payload: body["payload"] ?? {} };
  return deliver(parts, c, {
    app,
    targets: armed.map(({ target }) => target),
    messageId,
    requestData: { source: "queue", queueDetails },
    runIdFor: (workflow) => deriveRunId("queue", ...namespaceOf(app), queueName, messageId, workflow),
  });
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
  const messageId = textOf(body, "messageId") ?? randomUUID();
  const sourceAppId = textOf(body, "sourceAppId");
  const isMeant = (wanted: string | undefined) => wanted === undefined || wanted === sourceAppId;
  const triggerDetails = {
    ...(sourceAppId === undefined ? {} : { sourceAppId }),
    triggerEvent,
    payload: body["payload"] ?? {},
  };
  return deliver(parts, c, {
    app,
    targets: armed.filter(({ trigger }) => isMeant(trigger.sourceAppId)).map(({ target }) => target),
    messageId,
    requestData: { source: "trigger", triggerDetails },
    runIdFor: (workflow) =>
      deriveRunId("event", ...namespaceOf(app), triggerEvent, sourceAppId ?? "", messageId, workflow),
  });
}

/** Tenants number their messages each for itself. */
function namespaceOf({ tenantId }: Principal): readonly string[] {
  return tenantId === undefined ? [] : [tenantId];
}

type Message = Pick<Delivery, "targets" | "requestData" | "runIdFor"> & {
  /** The application as the sender sees it: runs are the sender's. */
  readonly app: Ports;
  readonly messageId: string;
};

async function deliver(parts: HttpParts, c: Context<HttpEnv>, message: Message): Promise<Response> {
  const { app, messageId, ...rest } = message;
  const trusted = await resolveTrustedContext(parts.app, parts.runner, callerOf(c));
  const traceId = c.get("traceId");
  const { runner, checker } = parts;
  const runs = await deliverMessage(
    { app, runner, checker },
    {
      ...rest,
      traceParent: c.req.header("traceparent"),
      requestId: c.get("requestId"),
      context: { ...(traceId === undefined ? {} : { traceId }), ...trusted },
    },
  );
  return answerJson(c, { data: { message_id: messageId, runs }, error: null }, 202);
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
