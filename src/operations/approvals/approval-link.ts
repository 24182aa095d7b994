import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { StoredKey } from "../../ports/service/api-keys.ts";
import type { Place, Principal, Stores } from "../application/ports.ts";
import { mayAnswerRuns } from "../keys/api-keys.ts";
import type { OpenApproval } from "./describe-run-approvals.ts";

/** Other texts are sealed with the same key. */
const PURPOSE = "approval link";
export const APPROVAL_LINKS = "/approvals/by-link";

/** The address at which whoever has it answers this one question as the holder of the key, until then. Throws `KEY_NOT_FOUND`. */
export async function makeApprovalLink(
  app: Place & Principal & Stores,
  { approval_id: id }: OpenApproval,
  { holder, hours }: { readonly holder: string; readonly hours: number },
): Promise<{ readonly path: string; readonly expires_at: string }> {
  const { tenantId } = app;
  const keys = await (await app.service()).keys.list(tenantId === undefined ? {} : { tenantId });
  const now = app.clock.now();
  const key = keys.find((each) => (each.id === holder || each.name === holder) && mayAnswerRuns(each, now));
  if (key === undefined)
    throw new PawlError("KEY_NOT_FOUND", { message: `No key that may answer is named "${holder}".` });
  const endsAt = now + hours * 3_600_000;
  const token = (await app.secrets()).seal(writeExact([PURPOSE, id, key.id, endsAt]));
  return { path: `${APPROVAL_LINKS}/${token}`, expires_at: toIsoTime(endsAt) };
}

/** What an address is for. Throws `FORBIDDEN` where it is none of ours, too old, or its key is revoked. */
export async function openApprovalLink(
  app: Place & Stores,
  token: string,
): Promise<{ readonly id: string; readonly key: StoredKey }> {
  const [purpose, id, keyId, endsAt] = await read(app, token);
  const now = app.clock.now();
  const key = typeof keyId === "string" ? await (await app.service()).keys.find(keyId) : undefined;
  const isGood = purpose === PURPOSE && typeof endsAt === "number" && endsAt > now;
  if (isGood && typeof id === "string" && key !== undefined && mayAnswerRuns(key, now)) return { id, key };
  throw new PawlError("FORBIDDEN", {
    message: "This address answers no question, or not any more.",
    remedy: "Ask whoever sent it for another one.",
  });
}

async function read(app: Stores, token: string): Promise<readonly unknown[]> {
  const secrets = await app.secrets();
  try {
    const value = parseJson(secrets.open(token));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
