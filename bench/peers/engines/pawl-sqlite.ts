import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteJournal } from "../../../src/storage/sqlite/sqlite-journal.ts";
import { fanOut, openNoOpHost, sequence } from "../../support/no-op-host.ts";
import type { OpenPeer } from "../peer.ts";
import { runOn } from "./pawl-postgres.ts";

export const open: OpenPeer = async ({ folder }) => {
  const path = join(folder, "pawl.db");
  const journal = openSqliteJournal({ path, durability: "power" });
  const host = openNoOpHost(journal);
  return {
    sequence: (steps) => runOn(host, sequence(steps)),
    fanOut: (steps) => runOn(host, fanOut(steps)),
    async settings() {
      const database = new DatabaseSync(path);
      const { journal_mode: mode } = database.prepare("PRAGMA journal_mode").get() ?? {};
      database.close();
      return `journal_mode=${mode}, synchronous=FULL`;
    },
    async close() {
      await host.park(AbortSignal.abort());
      await journal.close();
    },
  };
};
