import type { ApiKeys, StoredKey } from "../../ports/service/api-keys.ts";
import type { RecordDatabase } from "./record-database.ts";
import { grant, plain, RecordTable, trueOrAbsent, words } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";

export const KEYS = new RecordTable<StoredKey>("api_keys", {
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

export class SqlApiKeys implements ApiKeys {
  readonly #database: RecordDatabase;
  readonly #remembered: RememberedReads;

  constructor(database: RecordDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
  }

  async add(key: StoredKey): Promise<void> {
    await KEYS.insert(this.#database, key);
  }

  /** Never remembered: a key that is revoked is refused at once, by every process. */
  async find(id: string): Promise<StoredKey | undefined> {
    return KEYS.find(this.#database, "WHERE id = ?", id);
  }

  async list({ tenantId }: { readonly tenantId?: string }): Promise<readonly StoredKey[]> {
    if (tenantId === undefined) return KEYS.list(this.#database, "ORDER BY created_at, id");
    return KEYS.list(this.#database, "WHERE tenant_id = ? ORDER BY created_at, id", tenantId);
  }

  async revoke(id: string, at: number): Promise<boolean> {
    return (await KEYS.update(this.#database, { revokedAt: at }, "id = ? AND revoked_at IS NULL", id)) === 1;
  }

  async areThere(): Promise<boolean> {
    const text = "SELECT 1 FROM api_keys WHERE revoked_at IS NULL LIMIT 1";
    return this.#remembered.get("any", async () => (await this.#database.get(text)) !== undefined);
  }
}
