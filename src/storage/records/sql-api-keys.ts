import type { ApiKeys, StoredKey } from "../../ports/service/api-keys.ts";
import type { RecordDatabase } from "./record-database.ts";
import { flag, grant, integer, json, optional, RecordTable, text, trueOrAbsent, words } from "./record-table.ts";
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
    groups: { ...optional(json), added: "keys-2" },
  },
  { key: ["id"] },
);

export function openApiKeys(database: RecordDatabase): ApiKeys {
  const remembered = new RememberedReads(database);
  return {
    add: async (key) => void (await KEYS.insert(database, key)),
    /** Never remembered: a key that is revoked is refused at once, by every process. */
    find: (id) => KEYS.find(database, { id }),
    list: (ofTenant) => KEYS.list(database, ofTenant, "ORDER BY created_at, id"),
    revoke: async (id, at) => (await KEYS.update(database, { revokedAt: at }, { id, revokedAt: null })) === 1,
    areThere: () =>
      remembered.get("any", async () => (await KEYS.find(database, { revokedAt: null }, "LIMIT 1")) !== undefined),
  };
}
