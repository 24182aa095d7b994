import type { ClaimedKey, GivenKey, IdempotencyKeys, KeyClaim } from "../../../ports/idempotency-keys.ts";
import { prepareQuery, type Query } from "../statement.ts";
import type { ServiceDatabase, ServiceStatement } from "./service-database.ts";

const KEPT_MS = 24 * 60 * 60 * 1_000;

interface ClaimRow {
  readonly run_id: string;
  readonly request_hash: string;
}

export class SqliteIdempotencyKeys implements IdempotencyKeys {
  readonly #forget: ServiceStatement;
  readonly #claim: ServiceStatement;
  readonly #find: Query<ClaimRow>;

  constructor(database: ServiceDatabase) {
    this.#forget = database.prepare("DELETE FROM idempotency_keys WHERE at < ?");
    this.#claim = database.prepare("INSERT INTO idempotency_keys VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    this.#find = prepareQuery(
      database,
      "SELECT run_id, request_hash FROM idempotency_keys WHERE tenant_id = ? AND key = ? AND at >= ?",
    );
  }

  async claim({ tenantId = "", key, requestHash, runId, at }: KeyClaim): Promise<ClaimedKey> {
    this.#forget.run(at - KEPT_MS);
    if (this.#claim.run(tenantId, key, requestHash, runId, at).changes === 1) {
      return { runId, requestHash, isNew: true };
    }
    const known = await this.find({ tenantId, key, at });
    // Another process has forgotten it in between: it was as old as a day.
    return known === undefined ? this.claim({ tenantId, key, requestHash, runId, at }) : { ...known, isNew: false };
  }

  async find({ tenantId = "", key, at }: Pick<KeyClaim, "tenantId" | "key" | "at">): Promise<GivenKey | undefined> {
    const known = this.#find.get(tenantId, key, at - KEPT_MS);
    return known === undefined ? undefined : { runId: known.run_id, requestHash: known.request_hash };
  }
}
