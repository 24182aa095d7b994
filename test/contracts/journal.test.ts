import { join } from "node:path";
import { StorageThread } from "../../src/app/storage-thread/storage-thread.ts";
import { holdRuns } from "../../src/storage/held-runs.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { openMemoryJournal } from "../support/memory/open-memory-journal.ts";
import { openTestJournal } from "../support/open-test-journal.ts";
import { newTestDatabase } from "../support/test-database.ts";
import { describeJournalContract } from "./journal.contract.ts";

describeJournalContract("memory", { open: async () => openMemoryJournal(), isDurable: false });

describeJournalContract("sqlite", {
  open: async (folder) => holdRuns(openSqliteJournal({ path: join(folder, "pawl.db"), durability: "power" })),
  isDurable: true,
});

describeJournalContract("sqlite, durability process", {
  open: async (folder) => holdRuns(openSqliteJournal({ path: join(folder, "pawl.db"), durability: "process" })),
  isDurable: true,
});

const databases = new Map<string, Promise<string>>();

describeJournalContract("postgres", {
  async open(folder) {
    const url = databases.get(folder) ?? newTestDatabase();
    databases.set(folder, url);
    return openTestJournal(await url);
  },
  isDurable: true,
});

describeJournalContract("sqlite, written in a thread", {
  async open(folder) {
    const path = join(folder, "pawl.db");
    const others = { service: join(folder, "service.db"), conversations: join(folder, "conversations.db") };
    const inner = openSqliteJournal({ path, durability: "power" });
    return holdRuns(new StorageThread({ journal: path, ...others, durability: "power" }).journal(inner));
  },
  isDurable: true,
});
