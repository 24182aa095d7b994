import type { ClaimedKey, GivenKey, IdempotencyKeys, KeyClaim } from "../../ports/service/idempotency-keys.ts";
import type { Sql } from "../sql/sql-database.ts";

const KEPT_MS = 24 * 60 * 60 * 1_000;

export class SqlIdempotencyKeys implements IdempotencyKeys {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async claim({ tenantId = "", key, requestHash, runId, at }: KeyClaim): Promise<ClaimedKey> {
    await this.#sql.run("DELETE FROM idempotency_keys WHERE at < ?", at - KEPT_MS);
    const claim = "INSERT INTO idempotency_keys VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    if ((await this.#sql.run(claim, tenantId, key, requestHash, runId, at)) === 1) {
      return { runId, requestHash, isNew: true };
    }
    const known = await this.find({ tenantId, key, at });
    // If it is gone, it was a day old and another process has removed it in between.
    return known === undefined ? this.claim({ tenantId, key, requestHash, runId, at }) : { ...known, isNew: false };
  }

  async find({ tenantId = "", key, at }: Pick<KeyClaim, "tenantId" | "key" | "at">): Promise<GivenKey | undefined> {
    return this.#sql.get<GivenKey>(
      `SELECT run_id AS "runId", request_hash AS "requestHash" FROM idempotency_keys
        WHERE tenant_id = ? AND key = ? AND at >= ?`,
      ...[tenantId, key, at - KEPT_MS],
    );
  }
}
