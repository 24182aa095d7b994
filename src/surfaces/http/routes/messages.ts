import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Ports, Principal } from "../../../operations/application/ports.ts";
import { resolveTrustedContext } from "../../../operations/requests/request-context.ts";
import { deriveRunId } from "../../../operations/start/derive-run-id.ts";
import { type Delivery, deliverMessage } from "../../../operations/triggers/deliver-message.ts";
import { type Publication, publishEvent, toPublication } from "../../../operations/triggers/publish-event.ts";
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

/**
 * `POST /triggers/{event}`: the same for an event, in the workflows that listen to its sender. Beside that the run has it that waits
 * for its fields.
 */
export async function deliverEvent(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const triggerEvent = c.req.param("event") ?? "";
  const app = parts.appFor(c);
  const { events, awaited } = await parts.triggers(app.tenantId);
  // Runs may wait for it in another way than their workflow does today.
  const waiting = await (await app.service()).events.listFields({ tenantId: app.tenantId, name: triggerEvent });
  const fields = [...(awaited.get(triggerEvent) ?? []), ...waiting];
  const armed = events.get(triggerEvent) ?? [];
  if (armed.length === 0 && fields.length === 0) {
    const message = `No workflow is triggered by the event "${triggerEvent}", and none waits for it by its fields.`;
    throw new PawlError("EVENT_UNKNOWN", { message });
  }
  const body = toEnvelope(await readMessage(parts, c));
  const sourceAppId = textOf(body, "sourceAppId");
  const isMeant = (wanted: string | undefined) => wanted === undefined || wanted === sourceAppId;
  const payload = body["payload"] ?? {};
  const triggerDetails = { ...(sourceAppId === undefined ? {} : { sourceAppId }), triggerEvent, payload };
  const idFor = (messageId: string, to: string) =>
    deriveRunId("event", ...namespaceOf(app), triggerEvent, sourceAppId ?? "", messageId, to);
  const targets = armed.filter(({ trigger }) => isMeant(trigger.sourceAppId)).map(({ target }) => target);
  const event = { name: triggerEvent, payload: asObject(payload), fields, isTrigger: targets.length > 0 };
  return deliver(parts, c, app, body, (messageId) => ({
    targets,
    requestData: { source: "trigger", triggerDetails },
    runIdFor: (workflow) => idFor(messageId, workflow),
    publication: fields.length === 0 ? undefined : toPublication(app, { ...event, id: idFor(messageId, "") }),
  }));
}

const ENVELOPE = new Set(["payload", "messageId", "sourceAppId"]);

/** A body that is no envelope is a payload, as other programs send it. */
function toEnvelope(body: JsonObject): JsonObject {
  const others = Object.keys(body).filter((name) => !ENVELOPE.has(name));
  if (Object.hasOwn(body, "payload") || others.length === 0) return body;
  if (others.length === Object.keys(body).length) return { payload: body };
  throw new PawlError("REQUEST_INVALID", {
    message: `\`${others[0]}\` stands beside \`messageId\` or \`sourceAppId\`: put it into \`payload\`.`,
  });
}

/** Tenants number their messages each for itself. */
function namespaceOf({ tenantId }: Principal): readonly string[] {
  return tenantId === undefined ? [] : [tenantId];
}

type Message = Pick<Delivery, "targets" | "requestData" | "runIdFor"> & {
  readonly publication?: Publication | undefined;
};

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
    const { publication, ...message } = toMessage(message_id);
    const runs = await deliverMessage(
      { app, runner, checker },
      {
        ...message,
        claim,
        traceParent: c.req.header("traceparent"),
        requestId: c.get("requestId"),
        context: { ...(traceId === undefined ? {} : { traceId }), ...trusted },
      },
    );
    const published = publication && (await publishEvent(app, publication));
    return answerJson(c, { data: { message_id, runs, ...(published && { waiting: published }) }, error: null }, 202);
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
