import { z } from "zod";
import { writeMicro } from "../../core/amounts.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { Json } from "../../core/json.ts";
import { covers, describeGrant, type Grant, meet, SENT } from "../../core/trust/grant.ts";
import { GRANT_WORDS, readGrant, writeGrant } from "../../core/trust/parse-grant.ts";
import { suggest } from "../../dialects/did-you-mean.ts";
import type { StoredKey } from "../../ports/service/api-keys.ts";
import type { Place, Principal, Stores } from "../application/ports.ts";
import { TENANT_ID, TENANT_ID_RULE } from "../application/tenant-id.ts";
import { toUsd } from "../limits/micro-dollars.ts";
import { NOTHING_IN_USE } from "../limits/quotas.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { type Frozen, givenTimeSchema, idField, listOf, numberedPage, takePage, timeSchema } from "../schemas.ts";
import { newKeySecret } from "./api-keys.ts";

const scopeSchema = z
  .enum(["read", "run", "write", "admin"])
  .describe("Each includes those before it: see, start and answer, change definitions and schedules, manage keys.");

/** A key that called itself so would answer for whoever has none. */
const nameSchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^(?!operator$)/, "`operator` is who bears no key of their own");

const keySchema = z
  .object({
    key_id: z.string(),
    name: z.string(),
    scopes: z.array(scopeSchema),
    groups: z.array(z.string()).describe("Approvals may name them, as they may name the key."),
    tenant_id: z.string().nullable(),
    max_cost_usd: z.number().nullable().describe("What one run that it starts may cost."),
    grant: z.string().describe("What texts may reach that come with it, as `--grant` takes it."),
    may: z.array(z.string()).describe("The same in words: what they may do."),
    may_not: z.array(z.string()).describe("What they may not do."),
    tells_context: z.boolean().describe("Whether its requests say who asks: `userInfo`, `sessionId`, `configuration`."),
    created_at: timeSchema,
    expires_at: timeSchema.nullable(),
    revoked_at: timeSchema.nullable(),
  })
  .meta({ id: "Key", description: "A key, without what opens anything." });

type KeyDescription = Frozen<z.output<typeof keySchema>>;

const NO_MODEL = { no: "Who may use the service is not decided by a model." };
const DAY_MS = 24 * 60 * 60 * 1_000;

export const createKey = defineOperation({
  id: "createKey",
  summary: "Make a key; it is shown this once",
  scope: "admin",
  effect: "writes",
  input: z
    .strictObject({
      name: nameSchema.describe("Who it is for: approvals know people by it."),
      scopes: z
        .array(scopeSchema)
        .min(1)
        .default(["run"])
        .describe("Some of read, run, write and admin; each includes those before it."),
      groups: z.array(nameSchema).max(100).optional().describe("Groups that it is in: approvals may name them."),
      tenant_id: z
        .string()
        .regex(TENANT_ID, TENANT_ID_RULE)
        .optional()
        .describe("It sees and starts runs of this tenant only."),
      max_cost_usd: z
        .number()
        .positive()
        .max(1_000_000)
        .optional()
        .describe("What one run that it starts may cost, in US dollars."),
      grant: z
        .union([
          z.string(),
          z.array(z.string()),
          z.record(z.string(), z.union([z.boolean(), z.string(), z.array(z.string())])),
        ])
        .optional()
        .describe(
          "What texts may reach that come with it: `terminals,variables:API_*,servers:github,commands,addresses:10.0.0.0/8,code:network`, or `everything`. What is not named stays as for texts that are sent.",
        ),
      tells_context: z
        .boolean()
        .default(false)
        .describe("Believe what its requests to `/execute` say of `userInfo`, `sessionId` and `configuration`."),
      expires_at: givenTimeSchema.optional(),
      expires_in_days: z.int().min(1).max(1_000).optional().describe("It expires after so many days."),
    })
    .refine(({ expires_at: at, expires_in_days: days }) => at === undefined || days === undefined, {
      message: "`expires_at` and `expires_in_days` say the same: send one",
    }),
  output: keySchema.extend({ key: z.string().describe("What requests must bear. It is stored nowhere.") }),
  http: { method: "POST", path: "/keys", status: 201 },
  cli: {
    verb: "keys create",
    args: ["name"],
    options: {
      scopes: "--scopes <list>",
      groups: "--group <list>",
      tenant_id: "--tenant <id>",
      max_cost_usd: "--max-cost <usd>",
      grant: "--grant <words>",
      tells_context: "--tells-context",
      expires_in_days: "--days <n>",
    },
    // The key alone, so that it can be taken into a variable.
    show: ({ key_id, key }) => ({
      data: key,
      told: [
        `Keep it: it is not shown again. From now on every request needs a key. Revoke it: pawl keys revoke ${key_id}`,
      ],
    }),
    example: "keys create ci --scopes read,run --days 90",
  },
  mcp: NO_MODEL,
  /** A tenant makes keys of its own only. */
  async handle(
    { app }: OperationContext<Place & Principal & Stores>,
    { name, scopes, max_cost_usd: maxCostUsd, expires_in_days: days, ...given },
  ) {
    if (given.tells_context && app.tenantId !== undefined)
      throw new PawlError("FORBIDDEN", { message: "A tenant cannot say whose word on the context is believed." });
    if (given.tells_context && app.key !== undefined && app.key.tellsContext !== true)
      throw tooMuch("`tells_context` is not among what its maker has");
    const now = app.clock.now();
    const { id, secretHash, key } = newKeySecret();
    const stored: StoredKey = {
      id,
      name,
      secretHash,
      scopes,
      ...(given.groups === undefined ? {} : { groups: given.groups }),
      createdAt: now,
      tenantId: app.tenantId ?? given.tenant_id,
      grant: readGiven(app.grant, given.grant),
      maxCostMicro: within(
        app.maxRunCostMicro,
        maxCostUsd === undefined ? undefined : Math.round(maxCostUsd * 1_000_000),
        writeMicro,
      ),
      ...(given.tells_context ? { tellsContext: true } : {}),
      expiresAt: within(app.key?.expiresAt, days === undefined ? given.expires_at : now + days * DAY_MS, toIsoTime),
    };
    await (await app.service()).keys.add(stored);
    return { ...describeKey(stored), key };
  },
});

/** A key costs no more and lasts no longer than its maker, whose limit it has where none is said. */
function within(makers: number | undefined, given: number | undefined, show: (limit: number) => string) {
  if (makers !== undefined && given !== undefined && given > makers)
    throw tooMuch(`${show(given)} is more than ${show(makers)}, which its maker has`);
  return given ?? makers;
}

function tooMuch(flaw: string): PawlError {
  return new PawlError("FORBIDDEN", {
    message: `A key hands on no more than it has: ${flaw}.`,
    remedy: "Ask for less, or make it on the server's machine with `pawl keys create`, whose user has no limits.",
  });
}

/** A key grants no more than its maker has: else whoever may make keys could do everything. */
function readGiven(makers: Grant, given: Json | undefined): Grant {
  if (given === undefined) return meet(makers, SENT);
  const parsed = readGrant(given);
  if ("problem" in parsed) {
    const { problem, unknown } = parsed;
    const remedy = `${unknown === undefined ? "" : `${suggest(unknown, GRANT_WORDS) ?? ""} `}The words are ${GRANT_WORDS.join(", ")}.`;
    throw new PawlError("REQUEST_INVALID", { message: `The grant cannot be read: ${problem}.`, remedy: remedy.trim() });
  }
  const { grant } = parsed;
  if (covers(makers, grant)) return grant;
  throw new PawlError("FORBIDDEN", {
    message: `A key may be granted no more than its maker has: ${writeGrant(makers)}.`,
    remedy: "Make it on the server's machine with `pawl keys create --grant`, whose user may grant everything.",
  });
}

export const showKey = defineOperation({
  id: "showKey",
  summary: "Show a key, and what it grants",
  scope: "admin",
  effect: "reads",
  input: z.strictObject({ id: idField("The key's id.", "keys ls") }),
  output: keySchema.extend({
    quotas: z
      .record(z.string(), z.int())
      .nullable()
      .describe("What its tenant may have at once, in each process. Null: it is of no tenant."),
    in_use: z
      .record(z.string(), z.int())
      .nullable()
      .describe(
        "What its tenant has of it in the process that answers. Null: it is of no tenant, or no server answers.",
      ),
  }),
  errors: ["KEY_NOT_FOUND"],
  http: { method: "GET", path: "/keys/{id}" },
  cli: { verb: "keys show", args: ["id"], show: (key) => ({ data: [...tellOf(key), ...tellQuotas(key)].join("\n") }) },
  mcp: NO_MODEL,
  handle: async ({ app, quotas }: OperationContext<Place & Principal & Stores>, { id }) => {
    const key = await findKey(app, id);
    const { tenantId: tenant } = key;
    if (tenant === undefined) return { ...describeKey(key), quotas: null, in_use: null };
    await quotas?.readStored(tenant);
    const inUse = quotas && { ...(quotas.used.get(tenant) ?? NOTHING_IN_USE) };
    return { ...describeKey(key), quotas: { ...app.config.settings.quotas, ...quotas?.most }, in_use: inUse ?? null };
  },
});

type Told = Readonly<Record<"quotas" | "in_use", Readonly<Record<string, number>> | null>>;

function tellQuotas({ quotas, in_use: inUse }: Told): readonly string[] {
  if (quotas === null) return [];
  const used = (name: string) => (inUse?.[name] === undefined ? "" : `${inUse[name]} of `);
  const each = Object.entries(quotas).map(([name, most]) => `  ${name}: ${used(name)}${most}`);
  return ["Its tenant may have at once", ...each];
}

function tellOf({ key_id, name, scopes, groups, tenant_id: tenant, grant, may, may_not: mayNot }: KeyDescription) {
  return [
    `${name} (${key_id}), ${scopes.join(",")}${groups.length === 0 ? "" : `, in ${groups.join(", ")}`}${tenant === null ? "" : `, of the tenant ${tenant}`}`,
    `granted: ${grant}`,
    "Texts that come with it may",
    ...may.map((line) => `  ${line}`),
    ...(mayNot.length === 0 ? [] : ["and may not", ...mayNot.map((line) => `  ${line}`)]),
  ];
}

async function findKey(app: Principal & Stores, id: string): Promise<StoredKey> {
  const key = await (await app.service()).keys.find(id);
  if (key !== undefined && (app.tenantId === undefined || key.tenantId === app.tenantId)) return key;
  throw new PawlError("KEY_NOT_FOUND", { message: `There is no key "${id}".` });
}

export const listKeys = defineOperation({
  id: "listKeys",
  summary: "List the keys",
  scope: "admin",
  effect: "reads",
  input: z.strictObject(numberedPage),
  output: listOf(keySchema),
  http: { method: "GET", path: "/keys" },
  cli: {
    verb: "keys ls",
    summary: "list them, revoked and expired ones too",
    table: {
      empty: "There are no keys: anyone on this machine may use the service.",
      columns: (key, now) => ({
        ID: key.key_id,
        NAME: key.name,
        SCOPES: key.scopes.join(","),
        GROUPS: key.groups.join(",") || null,
        TENANT: key.tenant_id,
        "A RUN": { usd: key.max_cost_usd },
        GRANT: key.grant,
        CREATED: { time: key.created_at },
        STATE: stateOf(key, now),
      }),
    },
  },
  mcp: NO_MODEL,
  word: (key) => ({ text: key.key_id, meaning: key.name }),
  handle: async ({ app }: OperationContext<Principal & Stores>, page) => takePage(await keysOf(app), page),
  count: async ({ app }: OperationContext<Principal & Stores>) => (await keysOf(app)).length,
});

function stateOf({ revoked_at: revoked, expires_at: expires }: KeyDescription, now: number) {
  if (revoked !== null) return { time: revoked, label: "revoked" };
  if (expires === null) return "valid";
  return Date.parse(expires) <= now ? { time: expires, label: "expired" } : `valid until ${expires.slice(0, 10)}`;
}

export const revokeKey = defineOperation({
  id: "revokeKey",
  summary: "Revoke a key: from now on it opens nothing",
  scope: "admin",
  effect: "destroys",
  input: z.strictObject({ id: idField("The key's id.", "keys ls") }),
  output: z.object({ key_id: z.string() }),
  errors: ["KEY_NOT_FOUND"],
  http: { method: "DELETE", path: "/keys/{id}" },
  cli: {
    verb: "keys revoke",
    summary: "from now on it opens nothing",
    args: ["id"],
    show: ({ key_id }) => ({ told: [`Revoked ${key_id}: it opens nothing any more.`] }),
  },
  mcp: NO_MODEL,
  async handle({ app }: OperationContext<Place & Principal & Stores>, { id }) {
    const { keys } = await app.service();
    const key = await keys.find(id);
    const isMine = key !== undefined && (app.tenantId === undefined || key.tenantId === app.tenantId);
    if (isMine && (await keys.revoke(id, app.clock.now()))) return { key_id: id };
    throw new PawlError("KEY_NOT_FOUND", { message: `There is no key "${id}" that could be revoked.` });
  },
});

async function keysOf(app: Principal & Stores): Promise<readonly KeyDescription[]> {
  const { tenantId } = app;
  return (await (await app.service()).keys.list(tenantId === undefined ? {} : { tenantId })).map(describeKey);
}

function describeKey(key: StoredKey): KeyDescription {
  const { grant = SENT } = key;
  const { may, mayNot } = describeGrant(grant);
  return {
    key_id: key.id,
    name: key.name,
    scopes: key.scopes,
    groups: key.groups ?? [],
    tenant_id: key.tenantId ?? null,
    max_cost_usd: key.maxCostMicro === undefined ? null : toUsd(key.maxCostMicro),
    grant: writeGrant(grant),
    may,
    may_not: mayNot,
    tells_context: key.tellsContext === true,
    created_at: toIsoTime(key.createdAt),
    expires_at: key.expiresAt === undefined ? null : toIsoTime(key.expiresAt),
    revoked_at: key.revokedAt === undefined ? null : toIsoTime(key.revokedAt),
  };
}
