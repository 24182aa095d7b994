import { join } from "node:path";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { describeJournalContract } from "./journal.contract.ts";

describeJournalContract("memory", { open: async () => new MemoryJournal(), isDurable: false });

describeJournalContract("sqlite", {
  open: async (folder) => openSqliteJournal({ path: join(folder, "pawl.db"), durability: "power" }),
  isDurable: true,
});

describeJournalContract("sqlite, durability process", {
  open: async (folder) => openSqliteJournal({ path: join(folder, "pawl.db"), durability: "process" }),
  isDurable: true,
});
