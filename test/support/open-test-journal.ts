import { readDatabaseUrl } from "../../src/storage/postgres/database-address.ts";
import { openPostgresJournal, type PostgresJournal } from "../../src/storage/postgres/journal/postgres-journal.ts";
import { PostgresDatabase } from "../../src/storage/postgres/postgres-database.ts";

interface TestJournalOptions {
  readonly leaseMs?: number;
  lost?(): void;
}

/** A journal that drives runs, as a process opens it. Closing it closes its connections too. */
export async function openTestJournal(url: string, options: TestJournalOptions = {}): Promise<PostgresJournal> {
  const { leaseMs = 60_000, lost = () => undefined } = options;
  const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 4 });
  const failed = (error: unknown) => {
    throw error;
  };
  const journal = await openPostgresJournal({ database, lease: { leaseMs, lost, failed } });
  return {
    ...journal,
    async close() {
      await journal.close();
      await database.close();
    },
  };
}
