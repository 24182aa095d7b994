import type { Conversations } from "../../ports/conversations.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";
import { integer, RecordTable, serial, text } from "./record-table.ts";

/** The most exchanges of a session. Older ones are removed when a new one is added. */
const MAX_KEPT = 1_000;

interface ExchangeRow {
  readonly no: number;
  readonly tenant: string;
  readonly agent: string;
  readonly session: string;
  readonly key: string;
  readonly at: number;
  readonly userSaid: string;
  readonly agentSaid: string;
}

export const EXCHANGES = new RecordTable<ExchangeRow>(
  "exchanges",
  { no: serial, tenant: text, agent: text, session: text, key: text, at: integer, userSaid: text, agentSaid: text },
  {
    unique: ["tenant", "agent", "session", "key"],
    indexes: { exchanges_by_session: "(tenant, agent, session, no)" },
  },
);

const PRUNE = `DELETE FROM exchanges WHERE tenant = ?1 AND agent = ?2 AND session = ?3 AND no <=
  (SELECT no FROM exchanges WHERE tenant = ?1 AND agent = ?2 AND session = ?3 ORDER BY no DESC LIMIT 1 OFFSET ?4)`;

export function openConversationsOn(database: SqlDatabase): Conversations {
  return {
    async read({ tenantId = "", agent, id }, { exchanges, chars }) {
      let left = chars;
      const of = { tenant: tenantId, agent, session: id };
      const rows = await EXCHANGES.list(database, of, "ORDER BY no DESC LIMIT ?", exchanges);
      const newest = rows.map(({ userSaid, agentSaid }) => ({ user: userSaid, agent: agentSaid }));
      const tooOld = newest.findIndex((exchange) => {
        left -= exchange.user.length + exchange.agent.length;
        return left < 0;
      });
      return newest.slice(0, tooOld === -1 ? newest.length : tooOld).reverse();
    },
    async append({ tenantId = "", agent, id }, { key, at, user: userSaid, agent: agentSaid }) {
      const row = { tenant: tenantId, agent, session: id, key, at, userSaid, agentSaid };
      await EXCHANGES.insert(database, row, "ON CONFLICT DO NOTHING");
      await database.run(PRUNE, tenantId, agent, id, MAX_KEPT);
    },
    close: () => database.close(),
  };
}
