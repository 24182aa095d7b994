import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Ports } from "../../../operations/application/ports.ts";
import { resolveTrustedContext } from "../../../operations/requests/request-context.ts";
import { deriveRunId } from "../../../operations/start/derive-run-id.ts";
import { addressEvent, type Message, namespaceOf } from "../../../operations/triggers/address-event.ts";
import { deliverMessage } from "../../../operations/triggers/deliver-message.ts";
import { publishEvent } from "../../../operations/triggers/publish-event.ts";
import { nameOf } from "../../../operations/triggers/trigger-table.ts";
import { answerJson } from "../answer-json.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { callerOf, idempotencyKeyOf, pathOf } from "../path-of.ts";
import { readJsonBody } from "../read-body.ts";

/** `POST /queues/{name}/messages`: starts a run in every workflow of the queue, once for each message id. */
export async function deliverToQueue(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const queueName = c.req.param("name") ?? "";
  const app = parts.appFor(c);
  const armed = (await parts.triggers(app.tenantId)).queues.get(queueName);
  if (armed === undefined)
    throw new PawlError("QUEUE_UNKNOWN", { message: `No workflow is triggered by the queue "${queueName}".` });
  const body = await readMessage(parts, c);
  return deliver(parts, c, app, body, (messageId) => ({
    targets: armed.map(({ target, trigger }) => ({ ...target, ...nameOf(trigger) })),
    requestData: { source: "queue", queueDetails: { queueName, messageId, payload: body["payload"] ?? {} } },
    runIdFor: (workflow) => deriveRunId("queue", ...namespaceOf(app), queueName, messageId, workflow),
  }));
}

/** `POST /triggers/{event}`: the same for an event, and beside that the run has it that waits for its fields. */
export async function deliverEvent(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const name = c.req.param("event") ?? "";
  const app = parts.appFor(c);
  const address = await addressEvent(app, await parts.triggers(app.tenantId), name);
  const body = toEnvelope(await readMessage(parts, c));
  const event = { sourceAppId: textOf(body, "sourceAppId"), payload: body["payload"] ?? {} };
  return deliver(parts, c, app, body, address(event));
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
