import type { LoginKey, ServerLogins, StoredLogin } from "../../ports/service/server-logins.ts";
import type { RecordDatabase } from "./record-database.ts";
import { emptyIfAbsent, integer, RecordTable, text } from "./record-table.ts";

interface LoginRow extends LoginKey, StoredLogin {
  readonly claimedUntil: number;
}

export const LOGINS = new RecordTable<LoginRow>(
  "server_logins",
  { tenantId: emptyIfAbsent, server: text, address: text, sealed: text, version: integer, claimedUntil: integer },
  { key: ["tenantId", "server", "address"], added: "logins-1" },
);

const REPLACE = `ON CONFLICT (tenant_id, server, address) DO UPDATE
  SET sealed = excluded.sealed, version = server_logins.version + 1, claimed_until = 0`;

export function openServerLogins(database: RecordDatabase): ServerLogins {
  const time = `coalesce(${database.traits.serverTime}, ?)`;
  const claim = `UPDATE server_logins SET claimed_until = ${time} + ?
    WHERE tenant_id = ? AND server = ? AND address = ? AND version = ? AND claimed_until <= ${time}`;
  return {
    find: (of) => LOGINS.find(database, rowOf(of)),
    async save(of, sealed, version) {
      if (version === undefined)
        return LOGINS.insert(database, { ...rowOf(of), sealed, version: 1, claimedUntil: 0 }, REPLACE);
      const replaced = { sealed, version: version + 1, claimedUntil: 0 };
      return (await LOGINS.update(database, replaced, { ...rowOf(of), version })) === 1;
    },
    async claim({ tenantId = "", server, address }, version, { now, forMs }) {
      return (await database.run(claim, now, forMs, tenantId, server, address, version, now)) === 1;
    },
    async release(of, version) {
      await LOGINS.update(database, { claimedUntil: 0 }, { ...rowOf(of), version });
    },
    remove: async (of) => (await LOGINS.remove(database, rowOf(of))) === 1,
  };
}

function rowOf({ tenantId, server, address }: LoginKey) {
  return { tenantId: tenantId ?? null, server, address };
}
