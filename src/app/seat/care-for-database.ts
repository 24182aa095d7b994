import type { DatabaseCare } from "../../ports/database-care.ts";
import { readDatabaseUrl } from "../../storage/postgres/database-address.ts";
import { lookAfterDatabase } from "../../storage/postgres/look-after-database.ts";
import { PostgresDatabase } from "../../storage/postgres/postgres-database.ts";

/** By one connection of its own, which needs no key for secrets: who brings tables up to date reads none. */
export async function careForDatabase<T>(url: string, work: (care: DatabaseCare) => Promise<T>): Promise<T> {
  const address = readDatabaseUrl(url);
  const database = new PostgresDatabase({ address, connections: 1 });
  try {
    return await work(lookAfterDatabase(database, address));
  } finally {
    await database.close();
  }
}
