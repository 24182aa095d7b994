import type { DatabaseSync } from "node:sqlite";
import type { Conversations, Exchange, Session } from "../../../ports/conversations.ts";
import { ServiceDatabase } from "./service-database.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS exchanges (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    user_said TEXT NOT NULL,
    agent_said TEXT NOT NULL,
    UNIQUE (tenant, agent, session, key)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS exchanges_by_session ON exchanges (tenant, agent, session, no);
`;

/**
 * What a version without tenants has kept: nobody knows whose it was, so that it counts as the application's own and no tenant reads it.
 */
const IS_OLD = "SELECT count(*) > 0 AND sum(name = 'tenant') = 0 AS isOld FROM pragma_table_info('exchanges')";
const MOVE = `
  ALTER TABLE exchanges RENAME TO exchanges_before_tenants;
  DROP INDEX exchanges_by_session;
  ${SCHEMA}
  INSERT INTO exchanges SELECT no, '', agent, session, key, at, user_said, agent_said FROM exchanges_before_tenants;
  DROP TABLE exchanges_before_tenants;
`;

/** The most exchanges of a session. Older ones are removed when a new one is added. */
const MAX_KEPT = 1_000;

const SELECT = `SELECT user_said AS "user", agent_said AS "agent" FROM exchanges
  WHERE tenant = ? AND agent = ? AND session = ? ORDER BY no DESC LIMIT ?`;

const INSERT = `INSERT INTO exchanges (tenant, agent, session, key, at, user_said, agent_said)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const PRUNE = `DELETE FROM exchanges WHERE tenant = ?1 AND agent = ?2 AND session = ?3 AND no <=
  (SELECT no FROM exchanges WHERE tenant = ?1 AND agent = ?2 AND session = ?3 ORDER BY no DESC LIMIT 1 OFFSET ?4)`;

/** Stores conversations in a file beside the journal, so that neither waits for the other. */
export class SqliteConversations implements Conversations {
  readonly #database: ServiceDatabase;

  /** Makes the file if it is missing. Throws as `ServiceDatabase` does. */
  constructor(path: string) {
    this.#database = ServiceDatabase.open({ path, durability: "power" }, prepare);
  }

  async read(
    { tenantId = "", agent, id }: Session,
    { exchanges, chars }: { readonly exchanges: number; readonly chars: number },
  ): Promise<readonly Exchange[]> {
    let left = chars;
    const newest = this.#database.all<Exchange>(SELECT, tenantId, agent, id, exchanges);
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
    this.#database.run(INSERT, tenantId, agent, id, said.key, said.at, said.user, said.agent);
    this.#database.run(PRUNE, tenantId, agent, id, MAX_KEPT);
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

/** Of two processes that open an older file at once one moves its rows. */
function prepare(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const isOld = database.prepare(IS_OLD).get()?.["isOld"] === 1;
    database.exec(isOld ? MOVE : SCHEMA);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
