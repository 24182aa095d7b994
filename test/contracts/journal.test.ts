import { join } from "node:path";
import { test } from "vitest";
import { holdRuns } from "../../src/storage/held-runs.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { openMemoryJournal } from "../support/memory/open-memory-journal.ts";
import { describeJournalContract } from "./journal.contract.ts";
import { compareWithMemory } from "./journal-differential.ts";
import { temporaryFolder } from "./temporary-folder.ts";

describeJournalContract("memory", { open: async () => openMemoryJournal(), isDurable: false });

describeJournalContract("sqlite", {
  open: async (folder) => holdRuns(openSqliteJournal({ path: join(folder, "pawl.db"), durability: "power" })),
  isDurable: true,
});

describeJournalContract("sqlite, durability process", {
  open: async (folder) => holdRuns(openSqliteJournal({ path: join(folder, "pawl.db"), durability: "process" })),
  isDurable: true,
});

test("sqlite answers every sequence of operations as the reference in memory does", async () => {
  const folder = temporaryFolder();
  let files = 0;
  await compareWithMemory(async () => {
    files += 1;
    return holdRuns(openSqliteJournal({ path: join(folder, `${files}.db`), durability: "process" }));
  });
});
