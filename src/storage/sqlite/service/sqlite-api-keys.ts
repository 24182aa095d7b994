import type { ApiKeys, KeyScope, StoredKey } from "../../../ports/api-keys.ts";
import { prepareQuery, type Query } from "../statement.ts";
import { RememberedReads } from "./remembered-reads.ts";
import type { ServiceDatabase } from "./service-database.ts";

interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly secret_hash: string;
  readonly scopes: string;
  readonly tenant_id: string | null;
  readonly max_cost_micro: number | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

export class SqliteApiKeys implements ApiKeys {
  readonly #database: ServiceDatabase;
  readonly #byId: Query<KeyRow>;
  readonly #any: Query<unknown>;
  readonly #remembered: RememberedReads;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
    this.#byId = prepareQuery(database, "SELECT * FROM api_keys WHERE id = ?");
    this.#any = prepareQuery(database, "SELECT 1 FROM api_keys WHERE revoked_at IS NULL LIMIT 1");
  }

  async add(key: StoredKey): Promise<void> {
    const { id, name, secretHash, scopes, tenantId, maxCostMicro, createdAt, expiresAt, revokedAt } = key;
    const optional = [tenantId ?? null, maxCostMicro ?? null, createdAt, expiresAt ?? null, revokedAt ?? null];
    this.#database
      .prepare("INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(id, name, secretHash, scopes.join(" "), ...optional);
    this.#remembered.forget();
  }

  async find(id: string): Promise<StoredKey | undefined> {
    const row = this.#byId.get(id);
    return row === undefined ? undefined : toKey(row);
  }

  async list({ tenantId }: { readonly tenantId?: string }): Promise<readonly StoredKey[]> {
    const where = tenantId === undefined ? "" : "WHERE tenant_id = ?";
    const query = prepareQuery<KeyRow>(this.#database, `SELECT * FROM api_keys ${where} ORDER BY created_at, id`);
    return query.all(...(tenantId === undefined ? [] : [tenantId])).map(toKey);
  }

  async revoke(id: string, at: number): Promise<boolean> {
    const revoke = this.#database.prepare("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL");
    this.#remembered.forget();
    return revoke.run(at, id).changes === 1;
  }

  async areThere(): Promise<boolean> {
    return this.#remembered.get("any", () => this.#any.get() !== undefined);
  }
}

function toKey(row: KeyRow): StoredKey {
  return {
    id: row.id,
    name: row.name,
    secretHash: row.secret_hash,
    scopes: row.scopes.split(" ") as readonly KeyScope[],
    createdAt: row.created_at,
    ...(row.tenant_id === null ? {} : { tenantId: row.tenant_id }),
    ...(row.max_cost_micro === null ? {} : { maxCostMicro: row.max_cost_micro }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
  };
}
