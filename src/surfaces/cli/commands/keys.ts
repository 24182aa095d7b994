import type { OpenApplication } from "../../../operations/application/application.ts";
import { createKey, listKeys, revokeKey } from "../../../operations/keys/api-keys.ts";
import type { KeyScope } from "../../../ports/api-keys.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";

/** `pawl keys ls`: revoked and expired ones too. */
export async function listKeysCommand(app: OpenApplication, options: CommonOptions): Promise<number> {
  return showKeys(await listKeys(app), options);
}

export async function showKeys(items: Awaited<ReturnType<typeof listKeys>>, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope({ items, next_cursor: null });
  else {
    const { renderKeys } = await import("../render/render-keys.ts");
    print(renderKeys(items, pageOptions()));
  }
  return 0;
}

export interface CreateKeyOptions extends CommonOptions {
  readonly scopes: readonly KeyScope[];
  readonly tenant?: string;
  readonly maxCost?: number;
  readonly days?: number;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** `pawl keys create`: prints the key alone, so that it can be taken into a variable; it is shown this once. */
export async function createKeyCommand(app: OpenApplication, name: string, options: CreateKeyOptions): Promise<number> {
  const { scopes, tenant, maxCost, days } = options;
  const created = await createKey(app, {
    name,
    scopes,
    tenantId: tenant,
    maxCostUsd: maxCost,
    ...(days === undefined ? {} : { expiresAt: app.clock.now() + days * DAY_MS }),
  });
  return showNewKey(created, options);
}

export function showNewKey(created: Awaited<ReturnType<typeof createKey>>, options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope(created);
  else {
    print(created.key);
    tell(
      `Keep it: it is not shown again. From now on every request needs a key. Revoke it: pawl keys revoke ${created.key_id}`,
    );
  }
  return 0;
}

/** `pawl keys revoke`. */
export async function revokeKeyCommand(app: OpenApplication, id: string, options: CommonOptions): Promise<number> {
  await revokeKey(app, id);
  return showRevoked(id, options);
}

export function showRevoked(id: string, options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope({ key_id: id });
  else tell(`Revoked ${id}: it opens nothing any more.`);
  return 0;
}
