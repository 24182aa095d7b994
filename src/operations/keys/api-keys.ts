import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { StoredKey } from "../../ports/service/api-keys.ts";
import type { Ports } from "../application/ports.ts";

/** Makes a key. It is shown once and never stored: only the hash of its secret is. */
export function newKeySecret(): { readonly id: string; readonly secretHash: string; readonly key: string } {
  const id = randomBytes(6).toString("hex");
  const secret = randomBytes(32).toString("base64url");
  return { id, secretHash: hashOf(secret), key: `pawl_${id}_${secret}` };
}

/** The key that a request bears; undefined where nobody may come in with it. */
export async function verifyKey(app: Pick<Ports, "service" | "clock">, given: string): Promise<StoredKey | undefined> {
  const [, id, secret] = /^pawl_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/.exec(given) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const key = await (await app.service()).keys.find(id);
  if (key === undefined) return undefined;
  const isRight = timingSafeEqual(Buffer.from(hashOf(secret), "hex"), Buffer.from(key.secretHash, "hex"));
  return isRight && !isOver(key, app.clock.now()) ? key : undefined;
}

export function isOver({ revokedAt, expiresAt }: StoredKey, now: number): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

/** Whether its holder may answer what runs ask. */
export function mayAnswerRuns(key: StoredKey, now: number): boolean {
  return !isOver(key, now) && key.scopes.some((scope) => scope !== "read");
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
