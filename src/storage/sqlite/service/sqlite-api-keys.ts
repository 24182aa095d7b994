import type { ApiKeys, StoredKey } from "../../../ports/service/api-keys.ts";
import { grant, plain, RecordTable, trueOrAbsent, words } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";
import type { ServiceDatabase } from "./service-database.ts";

export class SqliteApiKeys implements ApiKeys {
  readonly #database: ServiceDatabase;
  readonly #keys: RecordTable<StoredKey>;
  readonly #remembered: RememberedReads;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
    this.#keys = new RecordTable<StoredKey>(database, "api_keys", {
      id: plain,
      name: plain,
      secretHash: plain,
      scopes: words,
      tenantId: plain,
      maxCostMicro: plain,
      grant,
      tellsContext: trueOrAbsent,
      createdAt: plain,
      expiresAt: plain,
      revokedAt: plain,
    });
  }

  async add(key: StoredKey): Promise<void> {
    this.#keys.insert(key);
  }

  async find(id: string): Promise<StoredKey | undefined> {
    return this.#keys.find("WHERE id = ?", id);
  }

  async list({ tenantId }: { readonly tenantId?: string }): Promise<readonly StoredKey[]> {
    if (tenantId === undefined) return this.#keys.list("ORDER BY created_at, id");
    return this.#keys.list("WHERE tenant_id = ? ORDER BY created_at, id", tenantId);
  }

  async revoke(id: string, at: number): Promise<boolean> {
    return this.#keys.update({ revokedAt: at }, "id = ? AND revoked_at IS NULL", id) === 1;
  }

  async areThere(): Promise<boolean> {
    const text = "SELECT 1 FROM api_keys WHERE revoked_at IS NULL LIMIT 1";
    return this.#remembered.get("any", () => this.#database.get(text) !== undefined);
  }
}
