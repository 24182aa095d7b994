import type { ApiKeys, StoredKey } from "../../ports/service/api-keys.ts";
import type { RecordDatabase } from "./record-database.ts";
import { flag, grant, integer, optional, RecordTable, text, trueOrAbsent, words } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";

export const KEYS = new RecordTable<StoredKey>(
  "api_keys",
  {
    id: text,
    name: text,
    secretHash: text,
    scopes: words,
    tenantId: optional(text),
    maxCostMicro: optional(integer),
    createdAt: integer,
    expiresAt: optional(integer),
    revokedAt: optional(integer),
    tellsContext: { ...optional(flag), fromSql: trueOrAbsent.fromSql },
    grant: optional(grant),
  },
  { key: ["id"] },
);

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
    return KEYS.find(this.#database, { id });
  }

  async list(ofTenant: { readonly tenantId?: string }): Promise<readonly StoredKey[]> {
    return KEYS.list(this.#database, ofTenant, "ORDER BY created_at, id");
  }

  async revoke(id: string, at: number): Promise<boolean> {
    return (await KEYS.update(this.#database, { revokedAt: at }, { id, revokedAt: null })) === 1;
  }

  async areThere(): Promise<boolean> {
    return this.#remembered.get(
      "any",
      async () => (await KEYS.find(this.#database, { revokedAt: null }, "LIMIT 1")) !== undefined,
    );
  }
}
