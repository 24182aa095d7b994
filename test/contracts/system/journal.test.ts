import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { StorageThread } from "../../../src/app/storage-thread/storage-thread.ts";
import { holdRuns } from "../../../src/storage/held-runs.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { openSqliteJournal } from "../../../src/storage/sqlite/sqlite-journal.ts";
import { rounds } from "../../properties/rounds.ts";
import { openTestJournal } from "../../support/open-test-journal.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { describeJournalContract } from "../journal.contract.ts";
import { compareWithMemory } from "../journal-differential.ts";

/** Each sequence takes some hundred statements of a server. */
const LONG_MS = rounds(30_000);

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

test("postgres answers every sequence of operations as the reference in memory does", {
  timeout: LONG_MS,
}, async () => {
  const url = await newTestDatabase();
  await (await openTestJournal(url)).close();
  const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 1 });
  onTestFinished(() => database.close());
  await compareWithMemory(async () => {
    await database.run("TRUNCATE runs, events, commits, pins, outbox, violations, deleted_runs");
    return openTestJournal(url);
  });
});
