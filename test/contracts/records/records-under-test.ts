import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openConversations, openRecordsOn, openServiceRecords } from "../../../src/app/open-service-records.ts";
import { StorageThread } from "../../../src/app/storage-thread/storage-thread.ts";
import type { ServiceRecords } from "../../../src/operations/application/ports.ts";
import type { Conversations } from "../../../src/ports/conversations.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { openEmptyJournal } from "../../../src/storage/sqlite/sqlite-journal.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export interface AllRecords extends ServiceRecords {
  readonly conversations: Conversations;
}

/** Two that know nothing of each other, as two processes have them. */
type Pair = readonly [one: AllRecords, other: AllRecords];

export interface RecordsUnderTest {
  readonly name: string;
  /** Of an empty database, closed when the test ends. In memory both are the same. */
  open(): Promise<Pair>;
}

/** As many processes on one database, closed when the test ends. */
export const SEVERAL_PROCESSES: readonly {
  readonly name: string;
  open(count: number): Promise<readonly AllRecords[]>;
}[] = [
  {
    name: "SQLite",
    async open(count) {
      const folder = temporaryFolder();
      return Array.from({ length: count }, () => openInFolder(folder));
    },
  },
  {
    name: "PostgreSQL",
    async open(count) {
      const url = await newTestDatabase();
      return Promise.all(Array.from({ length: count }, () => openOnServer(url)));
    },
  },
];

/** Records in files of this machine, each as a process opens them. */
export const RECORDS_UNDER_TEST: readonly RecordsUnderTest[] = [
  { name: "SQLite in memory", open: async () => pairOf(openInMemory()) },
  {
    name: "SQLite in a file",
    async open() {
      const folder = temporaryFolder();
      return [openInFolder(folder), openInFolder(folder)];
    },
  },
];

export const POSTGRES_RECORDS: RecordsUnderTest = {
  name: "PostgreSQL",
  async open() {
    const url = await newTestDatabase();
    return Promise.all([openOnServer(url), openOnServer(url)]);
  },
};

/** Records that a thread or a server writes. */
export const SYSTEM_RECORDS: readonly RecordsUnderTest[] = [
  {
    name: "SQLite written in a thread",
    async open() {
      const folder = temporaryFolder();
      return [openAsServer(folder), openInFolder(folder)];
    },
  },
  POSTGRES_RECORDS,
];

function pairOf(records: AllRecords): Pair {
  return [records, records];
}

function openInMemory(): AllRecords {
  const options = { path: ":memory:", durability: "process" } as const;
  return closedLater(openServiceRecords(options), openConversations(options));
}

function openInFolder(folder: string, thread?: StorageThread): AllRecords {
  const fileOf = (name: string) => ({ path: join(folder, name), durability: "process" }) as const;
  const there = () => thread;
  return closedLater(
    openServiceRecords(fileOf("service.db"), there),
    openConversations(fileOf("conversations.db"), there),
  );
}

function openAsServer(folder: string): AllRecords {
  const [journal, service, conversations] = ["pawl.db", "service.db", "conversations.db"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const thread = new StorageThread({ journal, service, conversations, durability: "power" });
  onTestFinished(() => thread.journal(openEmptyJournal()).close());
  return openInFolder(folder, thread);
}

async function openOnServer(url: string): Promise<AllRecords> {
  const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 2 });
  const records = await openRecordsOn(database);
  onTestFinished(() => records.close());
  return records;
}

function closedLater(records: ServiceRecords & { close(): Promise<void> }, conversations: Conversations): AllRecords {
  onTestFinished(async () => {
    await records.close();
    await conversations.close();
  });
  return { ...records, conversations };
}
