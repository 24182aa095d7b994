import type { Conversations, Exchange, Session } from "../../../ports/conversations.ts";
import { ServiceDatabase } from "./service-database.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS exchanges (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    user_said TEXT NOT NULL,
    agent_said TEXT NOT NULL,
    UNIQUE (agent, session, key)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS exchanges_by_session ON exchanges (agent, session, no);
`;

/** The most exchanges of a session. Older ones are removed when a new one is added. */
const MAX_KEPT = 1_000;

const SELECT = `SELECT user_said AS "user", agent_said AS "agent" FROM exchanges
  WHERE agent = ? AND session = ? ORDER BY no DESC LIMIT ?`;

const INSERT = `INSERT INTO exchanges (agent, session, key, at, user_said, agent_said)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const PRUNE = `DELETE FROM exchanges WHERE agent = ?1 AND session = ?2 AND no <=
  (SELECT no FROM exchanges WHERE agent = ?1 AND session = ?2 ORDER BY no DESC LIMIT 1 OFFSET ?3)`;

/** Stores conversations in a file beside the journal, so that neither waits for the other. */
export class SqliteConversations implements Conversations {
  readonly #database: ServiceDatabase;
  readonly #mask: (text: string) => string;

  /** Makes the file if it is missing. `mask` takes secrets out of stored texts. Throws as `ServiceDatabase` does. */
  constructor({ path, mask }: { readonly path: string; mask(text: string): string }) {
    this.#database = ServiceDatabase.open({ path, durability: "power" }, (database) => database.exec(SCHEMA));
    this.#mask = mask;
  }

  async read(
    { agent, id }: Session,
    { exchanges, chars }: { readonly exchanges: number; readonly chars: number },
  ): Promise<readonly Exchange[]> {
    let left = chars;
    const newest = this.#database.all<Exchange>(SELECT, agent, id, exchanges);
    const tooOld = newest.findIndex((exchange) => {
      left -= exchange.user.length + exchange.agent.length;
      return left < 0;
    });
    return newest.slice(0, tooOld === -1 ? newest.length : tooOld).reverse();
  }

  async append({ agent, id }: Session, said: Exchange & { readonly key: string; readonly at: number }): Promise<void> {
    this.#database.run(INSERT, agent, id, said.key, said.at, this.#mask(said.user), this.#mask(said.agent));
    this.#database.run(PRUNE, agent, id, MAX_KEPT);
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}
