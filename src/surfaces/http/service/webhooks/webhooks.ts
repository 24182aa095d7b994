import { z } from "zod";
import { errorSchema, listOf, pageQuery, timeSchema } from "../../../../operations/schemas.ts";
import {
  countWebhooks,
  listWebhooks,
  resendWebhook,
  showWebhook,
} from "../../../../operations/webhooks/webhook-deliveries.ts";
import { defineEndpoint } from "../endpoint.ts";

const statusSchema = z
  .enum(["pending", "delivered", "failed", "skipped"])
  .describe("`skipped`: nothing was sent, because the receiver has said that nobody is there any more.");

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
  status: z.number().int().nullable().describe("Of the answer. Null: there was none."),
  error: z.string().nullable(),
  excerpt: z.string().nullable().describe("The beginning of the answer."),
});

const params = z.object({ id: z.string().min(1).max(200) });

export const listWebhooksEndpoint = defineEndpoint({
  method: "GET",
  path: "/webhooks",
  id: "listWebhooks",
  summary: "List deliveries of webhooks, newest first",
  tag: "webhooks",
  scope: "read",
  query: z.strictObject({
    ...pageQuery,
    offset: z.coerce.number().int().min(0).max(1_000_000).optional().describe("For clients that page by number."),
    run: z.string().min(1).max(200).optional(),
    status: statusSchema.optional(),
  }),
  answer: listOf(webhookSchema),
  async handle({ app, query }) {
    const { limit, cursor, offset, run, status } = query;
    const wanted = { run, ...(status === undefined ? {} : { status: [status] }) };
    const data = await listWebhooks(app, { ...wanted, limit, cursor, offset });
    const countAll = async () => ({ total: await countWebhooks(app, wanted), limit, offset: offset ?? 0 });
    return { data, countAll };
  },
});

export const getWebhook = defineEndpoint({
  method: "GET",
  path: "/webhooks/{id}",
  id: "getWebhook",
  summary: "Show a delivery and its tries",
  tag: "webhooks",
  scope: "read",
  params,
  answer: webhookSchema.extend({ attempts: z.array(attemptSchema) }),
  handle: async ({ app, params: { id } }) => ({ data: await showWebhook(app, id) }),
});

export const resendWebhookEndpoint = defineEndpoint({
  method: "POST",
  path: "/webhooks/{id}/resend",
  id: "resendWebhook",
  summary: "Deliver it again, with the same id",
  tag: "webhooks",
  scope: "run",
  params,
  answer: webhookSchema,
  status: 202,
  handle: async ({ app, params: { id } }) => ({ data: await resendWebhook(app, id) }),
});
