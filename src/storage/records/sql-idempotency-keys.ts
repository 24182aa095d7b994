import type { IdempotencyKeys, KeyClaim } from "../../ports/service/idempotency-keys.ts";
import type { Sql } from "../sql/sql-database.ts";
import { emptyIfAbsent, integer, RecordTable, text } from "./record-table.ts";

const KEPT_MS = 24 * 60 * 60 * 1_000;

export const CLAIMS = new RecordTable<KeyClaim>(
  "idempotency_keys",
  { tenantId: emptyIfAbsent, key: text, requestHash: text, runId: text, at: integer },
  { key: ["tenantId", "key"], indexes: { idempotency_keys_by_age: "(at)" } },
);

export function openIdempotencyKeys(sql: Sql): IdempotencyKeys {
  const keys: IdempotencyKeys = {
    async claim(claim) {
      const { runId, requestHash, at } = claim;
      await CLAIMS.remove(sql, {}, "WHERE at < ?", at - KEPT_MS);
      if (await CLAIMS.insert(sql, claim, "ON CONFLICT DO NOTHING")) return { runId, requestHash, isNew: true };
      const known = await keys.find(claim);
      // If it is gone, it was a day old and another process has removed it in between.
      return known === undefined ? keys.claim(claim) : { ...known, isNew: false };
    },
    async find({ tenantId, key, at }) {
      const known = await CLAIMS.find(sql, { tenantId: tenantId ?? null, key }, "AND at >= ?", at - KEPT_MS);
      return known && { runId: known.runId, requestHash: known.requestHash };
    },
  };
  return keys;
}
