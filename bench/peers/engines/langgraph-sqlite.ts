import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { openLangGraph } from "../langgraph.ts";
import type { OpenPeer } from "../peer.ts";

type Given = readonly (SQLInputValue | undefined)[];

export const open: OpenPeer = async ({ folder }) => {
  const database = new DatabaseSync(join(folder, "langgraph.db"));
  const saver = new SqliteSaver(toBetterSqlite(database) as unknown as ConstructorParameters<typeof SqliteSaver>[0]);
  database.exec("PRAGMA synchronous = FULL");
  return {
    ...openLangGraph(saver),
    async settings() {
      const { journal_mode: mode } = database.prepare("PRAGMA journal_mode").get() ?? {};
      const { synchronous } = database.prepare("PRAGMA synchronous").get() ?? {};
      return `journal_mode=${mode}, synchronous=${synchronous === 2 ? "FULL" : synchronous}`;
    },
    close: async () => database.close(),
  };
};

/** The saver's own `better-sqlite3` is compiled when it is installed. Node's SQLite does its part here. */
function toBetterSqlite(database: DatabaseSync) {
  const known = (given: Given) => given.map((value) => value ?? null);
  return {
    exec: (text: string) => database.exec(text),
    pragma: (text: string) => database.exec(`PRAGMA ${text}`),
    prepare(text: string) {
      const statement = database.prepare(text);
      return {
        run: (...given: Given) => statement.run(...known(given)),
        get: (...given: Given) => statement.get(...known(given)),
        all: (...given: Given) => statement.all(...known(given)),
      };
    },
    transaction:
      <Rows extends unknown[]>(act: (...rows: Rows) => void) =>
      (...rows: Rows) => {
        database.exec("BEGIN");
        act(...rows);
        database.exec("COMMIT");
      },
  };
}
