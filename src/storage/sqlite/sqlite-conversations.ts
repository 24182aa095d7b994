import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Conversations, Exchange, Session } from "../../ports/conversations.ts";
import { makeFolder } from "../make-folder.ts";
import { toReadFailure } from "./storage-failure.ts";

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

interface ConversationsOptions {
  readonly path: string;
  /** Takes secrets out of stored texts. */
  readonly mask: (text: string) => string;
}

/** Stores conversations in a file beside the journal, so that neither waits for the other. */
export class SqliteConversations implements Conversations {
  readonly #path: string;
  readonly #mask: (text: string) => string;
  readonly #database: DatabaseSync;
  readonly #select: StatementSync;
  readonly #insert: StatementSync;
  readonly #prune: StatementSync;

  /** Makes the file if it is missing. Throws `JOURNAL_DAMAGED`, `JOURNAL_FULL` or `JOURNAL_IO`. */
  static open({ path, mask }: ConversationsOptions): SqliteConversations {
    try {
      makeFolder(dirname(path));
      return new SqliteConversations(path, mask);
    } catch (error) {
      throw toReadFailure(error, path);
    }
  }

  private constructor(path: string, mask: (text: string) => string) {
    this.#mask = mask;
    this.#path = path;
    this.#database = new DatabaseSync(path);
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;");
    this.#database.exec(SCHEMA);
    this.#select = this.#database.prepare(
      "SELECT user_said, agent_said FROM exchanges WHERE agent = ? AND session = ? ORDER BY no DESC LIMIT ?",
    );
    this.#insert = this.#database.prepare(
      "INSERT INTO exchanges (agent, session, key, at, user_said, agent_said) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    );
    this.#prune = this.#database.prepare(
      "DELETE FROM exchanges WHERE agent = ?1 AND session = ?2 AND no <= (SELECT no FROM exchanges WHERE agent = ?1 AND session = ?2 ORDER BY no DESC LIMIT 1 OFFSET ?3)",
    );
  }

  async read(
    { agent, id }: Session,
    { exchanges, chars }: { exchanges: number; chars: number },
  ): Promise<readonly Exchange[]> {
    const newest: Exchange[] = [];
    let left = chars;
    try {
      for (const { user_said: user, agent_said: said } of this.#select.iterate(agent, id, exchanges)) {
        const exchange = { user: String(user), agent: String(said) };
        left -= exchange.user.length + exchange.agent.length;
        if (left < 0) break;
        newest.push(exchange);
      }
    } catch (error) {
      throw toReadFailure(error, this.#path);
    }
    return newest.reverse();
  }

  async append(session: Session, exchange: Exchange & { readonly key: string; readonly at: number }): Promise<void> {
    const { agent, id } = session;
    try {
      this.#insert.run(agent, id, exchange.key, exchange.at, this.#mask(exchange.user), this.#mask(exchange.agent));
      this.#prune.run(agent, id, MAX_KEPT);
    } catch (error) {
      throw toReadFailure(error, this.#path);
    }
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}
