import { dataOf } from "../../../client/pawl-client.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { CommonOptions } from "../cli-context.ts";
import { formatOf } from "../cli-context.ts";
import { type CostsOptions, showCosts } from "../commands/costs.ts";
import {
  type DeadLettersOptions,
  type ResolveOptions,
  showDeadLetters,
  showResolved,
} from "../commands/dead-letter.ts";
import { type CreateKeyOptions, showKeys, showNewKey, showRevoked } from "../commands/keys.ts";
import { showViolations, type ViolationsOptions } from "../commands/violations.ts";
import { type ListWebhooksOptions, showOneWebhook, showWebhooks } from "../commands/webhooks.ts";
import { printEnvelope, tell } from "../print.ts";
import { followRemote } from "./follow-remote.ts";
import { type Page, readPages } from "./read-pages.ts";
import { given, type RemoteParts } from "./remote-parts.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const byId = (id: string) => ({ params: { path: { id } } });

export async function listDeadLetters({ client }: RemoteParts, options: DeadLettersOptions): Promise<number> {
  const { all, workflow, limit, cursor: first } = options;
  const wanted = given({ status: all === true ? undefined : ("open" as const), workflow });
  const ask = (page: Page) => dataOf(client.api.GET("/dead-letter", { params: { query: { ...wanted, ...page } } }));
  return showDeadLetters(await readPages(limit, ask, first), options);
}

export async function retryDeadLetter(parts: RemoteParts, id: string, options: CommonOptions): Promise<number> {
  const { run_id: runId } = await dataOf(parts.client.api.POST("/dead-letter/{id}/retry", byId(id)));
  return followRemote(parts, runId, options);
}

export async function resolveDeadLetter({ client }: RemoteParts, id: string, options: ResolveOptions): Promise<number> {
  const body = given({ note: options.note });
  return showResolved(await dataOf(client.api.POST("/dead-letter/{id}/resolve", { ...byId(id), body })), options);
}

export async function listWebhooks({ client }: RemoteParts, options: ListWebhooksOptions): Promise<number> {
  const { run, status: statuses = [], limit, cursor: first } = options;
  const [status, ...more] = statuses;
  if (more.length > 0) {
    throw new PawlError("USAGE", {
      message: "A server lists one status at a time.",
      remedy: `Use --status ${status}.`,
    });
  }
  const wanted = given({ run, status });
  const ask = (page: Page) => dataOf(client.api.GET("/webhooks", { params: { query: { ...wanted, ...page } } }));
  return showWebhooks(await readPages(limit, ask, first), options);
}

export async function showWebhook({ client }: RemoteParts, id: string, options: CommonOptions): Promise<number> {
  return showOneWebhook(await dataOf(client.api.GET("/webhooks/{id}", byId(id))), options);
}

export async function resendWebhook({ client }: RemoteParts, id: string, options: CommonOptions): Promise<number> {
  const webhook = await dataOf(client.api.POST("/webhooks/{id}/resend", byId(id)));
  if (formatOf(options) !== "text") printEnvelope(webhook);
  else tell(`${id} is sent again now.`);
  return 0;
}

export async function sumCosts({ client }: RemoteParts, options: CostsOptions): Promise<number> {
  const { by, since, until } = options;
  const query = { by, ...given({ since: toTime(since), until: toTime(until) }) };
  return showCosts(await dataOf(client.api.GET("/costs", { params: { query } })), options);
}

export async function listViolations({ client }: RemoteParts, options: ViolationsOptions): Promise<number> {
  const { run, workflow, policy, action, since, until, limit, cursor } = options;
  const named = { run, workflow, policy, action, cursor, since: toTime(since), until: toTime(until) };
  const query = { limit, ...given(named) };
  return showViolations(await dataOf(client.api.GET("/violations", { params: { query } })), options);
}

export async function listKeys({ client }: RemoteParts, options: CommonOptions): Promise<number> {
  return showKeys((await dataOf(client.api.GET("/keys"))).items, options);
}

export async function createKey({ client }: RemoteParts, name: string, options: CreateKeyOptions): Promise<number> {
  const { scopes, tenant, maxCost, days } = options;
  const expiresAt = days === undefined ? undefined : toTime(Date.now() + days * DAY_MS);
  const body = {
    name,
    scopes: [...scopes],
    ...given({ tenant_id: tenant, max_cost_usd: maxCost, expires_at: expiresAt }),
  };
  return showNewKey(await dataOf(client.api.POST("/keys", { body })), options);
}

export async function revokeKey({ client }: RemoteParts, id: string, options: CommonOptions): Promise<number> {
  await dataOf(client.api.DELETE("/keys/{id}", byId(id)));
  return showRevoked(id, options);
}

function toTime(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
