import type { Conversations, Exchange, Session } from "../../ports/conversations.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";

/** The most exchanges of a session. Older ones are removed when a new one is added. */
const MAX_KEPT = 1_000;

const SELECT = `SELECT user_said AS "user", agent_said AS "agent" FROM exchanges
  WHERE tenant = ? AND agent = ? AND session = ? ORDER BY no DESC LIMIT ?`;

const INSERT = `INSERT INTO exchanges (tenant, agent, session, key, at, user_said, agent_said)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const PRUNE = `DELETE FROM exchanges WHERE tenant = ?1 AND agent = ?2 AND session = ?3 AND no <=
  (SELECT no FROM exchanges WHERE tenant = ?1 AND agent = ?2 AND session = ?3 ORDER BY no DESC LIMIT 1 OFFSET ?4)`;

export class SqlConversations implements Conversations {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async read(
    { tenantId = "", agent, id }: Session,
    { exchanges, chars }: { readonly exchanges: number; readonly chars: number },
  ): Promise<readonly Exchange[]> {
    let left = chars;
    const newest = await this.#database.all<Exchange>(SELECT, tenantId, agent, id, exchanges);
    const tooOld = newest.findIndex((exchange) => {
      left -= exchange.user.length + exchange.agent.length;
      return left < 0;
    });
    return newest.slice(0, tooOld === -1 ? newest.length : tooOld).reverse();
  }

  async append(
    { tenantId = "", agent, id }: Session,
    said: Exchange & { readonly key: string; readonly at: number },
  ): Promise<void> {
    await this.#database.run(INSERT, tenantId, agent, id, said.key, said.at, said.user, said.agent);
    await this.#database.run(PRUNE, tenantId, agent, id, MAX_KEPT);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}
