import type { ClaimedKey, GivenKey, IdempotencyKeys, KeyClaim } from "../../ports/service/idempotency-keys.ts";
import type { Sql } from "../sql/sql-database.ts";
import { emptyIfAbsent, integer, RecordTable, text } from "./record-table.ts";

const KEPT_MS = 24 * 60 * 60 * 1_000;

export const CLAIMS = new RecordTable<KeyClaim>(
  "idempotency_keys",
  { tenantId: emptyIfAbsent, key: text, requestHash: text, runId: text, at: integer },
  { key: ["tenantId", "key"], indexes: { idempotency_keys_by_age: "(at)" } },
);

export class SqlIdempotencyKeys implements IdempotencyKeys {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async claim(claim: KeyClaim): Promise<ClaimedKey> {
    const { runId, requestHash, at } = claim;
    await CLAIMS.remove(this.#sql, {}, "WHERE at < ?", at - KEPT_MS);
    if (await CLAIMS.insert(this.#sql, claim, "ON CONFLICT DO NOTHING")) return { runId, requestHash, isNew: true };
    const known = await this.find(claim);
    // If it is gone, it was a day old and another process has removed it in between.
    return known === undefined ? this.claim(claim) : { ...known, isNew: false };
  }

  async find({ tenantId, key, at }: Pick<KeyClaim, "tenantId" | "key" | "at">): Promise<GivenKey | undefined> {
    const known = await CLAIMS.find(this.#sql, { tenantId: tenantId ?? null, key }, "AND at >= ?", at - KEPT_MS);
    return known && { runId: known.runId, requestHash: known.requestHash };
  }
}
