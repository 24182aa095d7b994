import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { KeyScope, StoredKey } from "../../ports/api-keys.ts";
import type { Application } from "../application/application.ts";
import { TENANT_ID, TENANT_ID_RULE } from "../application/tenant-id.ts";
import { toUsd } from "../costs/micro-dollars.ts";

/** A key without what opens anything. */
export interface KeyDescription {
  readonly key_id: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly tenant_id: string | null;
  readonly max_cost_usd: number | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

export interface CreatedKey extends KeyDescription {
  /** What requests must bear. It is shown this once and stored nowhere. */
  readonly key: string;
}

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly tenantId?: string;
  readonly maxCostUsd?: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

type KeyApplication = Pick<Application, "service" | "clock" | "tenantId">;

const PREFIX = "pawl";

/** A tenant makes keys of its own only. Throws `REQUEST_INVALID` for a tenant that cannot be called so. */
export async function createKey(app: KeyApplication, wanted: NewKey): Promise<CreatedKey> {
  const { name, scopes, maxCostUsd, expiresAt } = wanted;
  const tenantId = app.tenantId ?? wanted.tenantId;
  if (tenantId !== undefined && !TENANT_ID.test(tenantId)) {
    throw new PawlError("REQUEST_INVALID", {
      message: `The tenant "${tenantId}" cannot be called so: it ${TENANT_ID_RULE}.`,
    });
  }
  const id = randomBytes(6).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  const stored: StoredKey = {
    id,
    name,
    secretHash: hashOf(secret),
    scopes,
    createdAt: app.clock.now(),
    tenantId,
    ...(maxCostUsd === undefined ? {} : { maxCostMicro: Math.round(maxCostUsd * 1_000_000) }),
    expiresAt,
  };
  await (await app.service()).keys.add(stored);
  return { ...describeKey(stored), key: `${PREFIX}_${id}_${secret}` };
}

export async function listKeys(app: KeyApplication): Promise<readonly KeyDescription[]> {
  const { tenantId } = app;
  const keys = await (await app.service()).keys.list(tenantId === undefined ? {} : { tenantId });
  return keys.map(describeKey);
}

/** From now on it opens nothing. Throws `KEY_NOT_FOUND`. */
export async function revokeKey(app: KeyApplication, id: string): Promise<void> {
  const { keys } = await app.service();
  const key = await keys.find(id);
  const isMine = key !== undefined && (app.tenantId === undefined || key.tenantId === app.tenantId);
  if (isMine && (await keys.revoke(id, app.clock.now()))) return;
  throw new PawlError("KEY_NOT_FOUND", { message: `There is no key "${id}" that could be revoked.` });
}

/** The key that a request bears; undefined where nobody may come in with it. */
export async function verifyKey(app: KeyApplication, given: string): Promise<StoredKey | undefined> {
  const [, id, secret] = /^pawl_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/.exec(given) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const key = await (await app.service()).keys.find(id);
  if (key === undefined) return undefined;
  const isRight = timingSafeEqual(Buffer.from(hashOf(secret), "hex"), Buffer.from(key.secretHash, "hex"));
  const isOver = key.revokedAt !== undefined || (key.expiresAt !== undefined && key.expiresAt <= app.clock.now());
  return isRight && !isOver ? key : undefined;
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function describeKey(key: StoredKey): KeyDescription {
  const { id, name, scopes, tenantId, maxCostMicro, createdAt, expiresAt, revokedAt } = key;
  return {
    key_id: id,
    name,
    scopes,
    tenant_id: tenantId ?? null,
    max_cost_usd: maxCostMicro === undefined ? null : toUsd(maxCostMicro),
    created_at: toIsoTime(createdAt),
    expires_at: expiresAt === undefined ? null : toIsoTime(expiresAt),
    revoked_at: revokedAt === undefined ? null : toIsoTime(revokedAt),
  };
}
