import { z } from "zod";
import { TENANT_ID, TENANT_ID_RULE } from "../../../../operations/application/tenant-id.ts";
import { createKey, listKeys, revokeKey } from "../../../../operations/keys/api-keys.ts";
import { givenTimeSchema, listOf, timeSchema } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";
import { numberedQuery, pageByNumber } from "../page-by-number.ts";

const scopeSchema = z
  .enum(["read", "run", "write", "admin"])
  .describe("Each includes those before it: see, start and answer, change definitions and schedules, manage keys.");

const keySchema = z
  .object({
    key_id: z.string(),
    name: z.string(),
    scopes: z.array(scopeSchema),
    tenant_id: z.string().nullable(),
    max_cost_usd: z.number().nullable().describe("What one run that it starts may cost."),
    created_at: timeSchema,
    expires_at: timeSchema.nullable(),
    revoked_at: timeSchema.nullable(),
  })
  .meta({ id: "Key", description: "A key, without what opens anything." });

export const createKeyEndpoint = defineEndpoint({
  method: "POST",
  path: "/keys",
  id: "createKey",
  summary: "Make a key; it is shown this once",
  tag: "keys",
  scope: "admin",
  body: z.strictObject({
    name: z.string().min(1).max(200),
    scopes: z.array(scopeSchema).min(1).default(["run"]),
    tenant_id: z.string().regex(TENANT_ID, TENANT_ID_RULE).optional(),
    max_cost_usd: z.number().positive().max(1_000_000).optional(),
    expires_at: givenTimeSchema.optional(),
  }),
  answer: keySchema.extend({ key: z.string().describe("What requests must bear. It is stored nowhere.") }),
  status: 201,
  async handle({ app, body }) {
    const { name, scopes, tenant_id: tenantId, max_cost_usd: maxCostUsd, expires_at: expiresAt } = body;
    const data = await createKey(app, { name, scopes, tenantId, maxCostUsd, expiresAt });
    return { data };
  },
});

export const listKeysEndpoint = defineEndpoint({
  method: "GET",
  path: "/keys",
  id: "listKeys",
  summary: "List the keys",
  tag: "keys",
  scope: "admin",
  query: z.strictObject(numberedQuery),
  answer: listOf(keySchema),
  async handle({ app, query }) {
    return pageByNumber(await listKeys(app), query);
  },
});

export const revokeKeyEndpoint = defineEndpoint({
  method: "DELETE",
  path: "/keys/{id}",
  id: "revokeKey",
  summary: "Revoke a key: from now on it opens nothing",
  tag: "keys",
  scope: "admin",
  params: z.object({ id: z.string().min(1) }),
  answer: z.object({ key_id: z.string() }),
  async handle({ app, params }) {
    await revokeKey(app, params.id);
    return { data: { key_id: params.id } };
  },
});
