import { z } from "zod";
import { ERRORS } from "../../core/errors/error-table.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { Deliveries, Delivery, DeliverySelection, DeliveryTry } from "../../ports/service/deliveries.ts";
import { findRun } from "../application/find-run.ts";
import { type Driving, isServed, type Place, type Principal, type Stores } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { errorSchema, type Frozen, idField, listOf, offsetQuery, pageQuery, timeSchema } from "../schemas.ts";
import { showReceiver } from "../show-receiver.ts";
import { checkSignatures } from "./sign-webhook.ts";

const statusSchema = z
  .enum(["pending", "delivered", "failed", "skipped"])
  .describe("`skipped`: nothing was sent, because the receiver has said that it is gone.");

const webhookSchema = z
  .object({
    webhook_id: z.string().describe("What its receiver gets as `webhook-id`, the same with each try."),
    channel: z.enum(["webhook", "slack", "email"]).describe("`slack` and `email`: what a schedule tells people."),
    event: z.string(),
    run_id: z.string().nullable(),
    workflow_name: z.string(),
    url: z.string().describe("Without what gives access."),
    status: statusSchema,
    attempt: z.number().int().describe("Tries so far."),
    next_attempt_at: timeSchema.nullable(),
    error: errorSchema.nullable(),
    tenant_id: z.string().nullable(),
    created_at: timeSchema,
    completed_at: timeSchema.nullable(),
  })
  .meta({ id: "Webhook", description: "A message to one receiver." });

const attemptSchema = z.object({
  at: timeSchema,
  duration_seconds: z.number(),
  status: z.number().int().nullable().describe("The HTTP status of the answer. Null if there was none."),
  error: z.string().nullable(),
  excerpt: z.string().nullable().describe("The beginning of the answer."),
});

const webhookWithAttemptsSchema = webhookSchema.extend({ attempts: z.array(attemptSchema) });

export type WebhookWithAttempts = Frozen<z.output<typeof webhookWithAttemptsSchema>>;

const NO_MODEL = { no: "Webhooks are between servers; people look after them." };
const id = idField("The delivery's id: `webhook-id` of the message.", "webhooks ls");

const wanted = z.strictObject({
  ...pageQuery,
  ...offsetQuery,
  run: z.string().min(1).max(200).optional().describe("Of this run: its id, or the beginning of it."),
  status: z
    .array(statusSchema)
    .optional()
    .describe("Some of pending, delivered, failed and skipped, separated by commas."),
});

type Wanted = Pick<z.output<typeof wanted>, "run" | "status">;

export const listWebhooks = defineOperation({
  id: "listWebhooks",
  summary: "List deliveries of webhooks, newest first",
  scope: "read",
  effect: "reads",
  input: wanted,
  output: listOf(webhookSchema),
  errors: ["RUN_NOT_FOUND", "WEBHOOK_NOT_FOUND"],
  http: { method: "GET", path: "/webhooks" },
  cli: {
    verb: "webhooks ls",
    usual: { limit: 20 },
    options: { status: "--status <list>" },
    table: {
      empty: "No webhooks have been taken up for delivery.",
      columns: (webhook) => ({
        ID: webhook.webhook_id,
        EVENT: webhook.event,
        WORKFLOW: webhook.workflow_name,
        STATUS: webhook.status,
        TRIES: webhook.attempt,
        CREATED: { time: webhook.created_at },
        URL: webhook.url,
      }),
    },
  },
  mcp: NO_MODEL,
  word: (webhook) => ({ text: webhook.webhook_id, meaning: `${webhook.event}, ${webhook.status}` }),
  async handle({ app }: OperationContext<Place & Principal & Stores>, { limit, cursor, offset, ...selected }) {
    const { deliveries } = await app.service();
    const before = cursor === undefined ? undefined : await findOwn(app, deliveries, cursor);
    const selection = await toSelection(app, selected);
    const found = await deliveries.list({ ...selection, limit: limit + 1, beforeNo: before?.no, offset });
    const items = found.slice(0, limit).map((delivery) => describe(app, delivery));
    return { items, next_cursor: found.length > limit ? (items.at(-1)?.webhook_id ?? null) : null };
  },
  count: async ({ app }: OperationContext<Principal & Stores>, selected) =>
    (await app.service()).deliveries.count(await toSelection(app, selected)),
});

export const getWebhook = defineOperation({
  id: "getWebhook",
  summary: "Show a delivery and its tries",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ id }),
  output: webhookWithAttemptsSchema,
  errors: ["WEBHOOK_NOT_FOUND"],
  http: { method: "GET", path: "/webhooks/{id}" },
  cli: { verb: "webhooks show", args: ["id"], view: "webhook" },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<Place & Principal & Stores>, given) {
    const { deliveries } = await app.service();
    const delivery = await findOwn(app, deliveries, given.id);
    return { ...describe(app, delivery), attempts: (await deliveries.readTries(delivery.id)).map(describeTry) };
  },
});

/**
 * Whatever became of it: the same bytes with the same id, as many tries as a new one. Also where the receiver has answered
 * 410; if it takes the message now, later ones are sent there again.
 */
export const resendWebhook = defineOperation({
  id: "resendWebhook",
  summary: "Deliver it again, with the same id",
  scope: "run",
  effect: { does: "writes", again: true, beyond: true },
  input: z.strictObject({ id }),
  output: webhookSchema.extend({ note: z.string().optional().describe("That no server delivers at the moment.") }),
  errors: ["WEBHOOK_NOT_FOUND"],
  http: { method: "POST", path: "/webhooks/{id}/resend", status: 202 },
  cli: {
    verb: "webhooks resend",
    args: ["id"],
    show: ({ webhook_id, note }) => ({ told: [note ?? `${webhook_id} is sent again now.`] }),
  },
  mcp: NO_MODEL,
  async handle({ app, by }: OperationContext<Place & Principal & Stores & Driving>, given) {
    const { deliveries } = await app.service();
    const { id: known } = await findOwn(app, deliveries, given.id);
    await deliveries.sendAgain(known, app.clock.now());
    const webhook = describe(app, await findOwn(app, deliveries, known));
    if (by === "api" || (await isServed(app))) return webhook;
    return { ...webhook, note: `${known} is sent again as soon as \`pawl serve\` runs.` };
  },
});

export const verifyWebhook = defineOperation({
  id: "verifyWebhook",
  summary: "Check a message that was received, with WEBHOOK_SECRET",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    body: z.string().describe("The file with its body, byte for byte; - reads it from stdin."),
    headers: z.array(z.string()).default([]),
  }),
  output: z.object({
    checks: z.array(
      z.object({
        scheme: z.enum(["x-sandcastle-signature", "webhook-signature"]),
        is: z.enum(["right", "wrong", "absent"]),
        reason: z.string().optional(),
      }),
    ),
  }),
  errors: ["USAGE", "WEBHOOK_SIGNATURE_WRONG"],
  http: { no: "The receiver checks." },
  cli: {
    verb: "webhooks verify",
    args: ["body"],
    optional: ["body"],
    usual: { body: "-" },
    files: ["body"],
    options: { headers: false },
    parts: [
      {
        flags: "-H, --header <header>",
        summary: "'name: value', as received; more than once",
        at: ["headers"],
        isList: true,
      },
    ],
    show: ({ checks }) => ({
      data: checks.flatMap(({ scheme, is }) => (is === "right" ? [`${scheme} is right.`] : [])).join("\n"),
    }),
  },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<Place>, { body, headers }) {
    const { secret, previous_secret: previous } = app.config.settings.webhook;
    if (secret === undefined)
      throw new PawlError("USAGE", {
        message: "There is no secret to check with.",
        remedy: "Set WEBHOOK_SECRET to what the sender signs with.",
      });
    const checks = checkSignatures({
      secrets: [secret, ...(previous === undefined ? [] : [previous])],
      headers: Object.fromEntries(headers.map(toHeader)),
      body,
      nowMs: app.clock.now(),
    });
    if (checks.every(({ is }) => is === "absent"))
      throw new PawlError("USAGE", {
        message: "No header given bears a signature.",
        remedy:
          "Give those of the request: -H 'X-Sandcastle-Signature: ...', or -H 'webhook-id: ...' with webhook-timestamp and webhook-signature.",
      });
    const wrong = checks.filter(({ is }) => is === "wrong");
    if (wrong.length === 0) return { checks };
    throw new PawlError("WEBHOOK_SIGNATURE_WRONG", {
      message: wrong.map(({ scheme, reason }) => `${scheme}: ${reason}`).join(" "),
      details: { checks: checks.map((check) => ({ ...check })) },
    });
  },
});

function toHeader(written: string): [string, string] {
  const [, name, value = ""] = /^([^:\s]+)\s*:\s*(.*?)\s*$/s.exec(written) ?? [];
  if (name !== undefined) return [name.toLowerCase(), value];
  throw new PawlError("USAGE", { message: `"${written}" is no header.`, remedy: "Write it as -H 'name: value'." });
}

async function findOwn(app: Principal, deliveries: Deliveries, id: string): Promise<Delivery> {
  const delivery = await deliveries.find(id);
  const isMine = app.tenantId === undefined || delivery?.tenantId === app.tenantId;
  if (delivery !== undefined && isMine) return delivery;
  throw new PawlError("WEBHOOK_NOT_FOUND", { message: `There is no webhook delivery "${id}".` });
}

async function toSelection(app: Principal & Stores, { run, status }: Wanted): Promise<DeliverySelection> {
  return { tenantId: app.tenantId, runId: run === undefined ? undefined : (await findRun(app, run)).id, status };
}

function describe(app: Place, delivery: Delivery): Frozen<z.output<typeof webhookSchema>> {
  const { state } = delivery;
  return {
    webhook_id: delivery.id,
    channel: delivery.channel,
    event: delivery.event,
    run_id: delivery.runId ?? null,
    workflow_name: delivery.workflow,
    url: showReceiver(delivery, (text) => app.mask(text)),
    status: state.status,
    attempt: delivery.tries,
    next_attempt_at: state.status === "pending" ? toIsoTime(state.nextAt) : null,
    error:
      "reason" in state
        ? { code: "WEBHOOK_NOT_DELIVERED", message: state.reason, remedy: ERRORS.WEBHOOK_NOT_DELIVERED.remedy }
        : null,
    tenant_id: delivery.tenantId ?? null,
    created_at: toIsoTime(delivery.createdAt),
    completed_at: state.status === "pending" ? null : toIsoTime(state.endedAt),
  };
}

function describeTry({ at, durationMs, status, error, excerpt }: DeliveryTry): z.output<typeof attemptSchema> {
  return {
    at: toIsoTime(at),
    duration_seconds: durationMs / 1_000,
    status: status ?? null,
    error: error ?? null,
    excerpt: excerpt ?? null,
  };
}
