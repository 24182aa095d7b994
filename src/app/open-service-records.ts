import type { ServiceRecords } from "../operations/application/service-records.ts";
import { openServiceDatabase } from "../storage/sqlite/service/open-service-database.ts";
import type { DatabaseOptions } from "../storage/sqlite/service/service-database.ts";
import { SqliteApiKeys } from "../storage/sqlite/service/sqlite-api-keys.ts";
import { SqliteBudgets } from "../storage/sqlite/service/sqlite-budgets.ts";
import { SqliteDeadLetterNotes } from "../storage/sqlite/service/sqlite-dead-letter-notes.ts";
import { SqliteDeliveries } from "../storage/sqlite/service/sqlite-deliveries.ts";
import { SqliteIdempotencyKeys } from "../storage/sqlite/service/sqlite-idempotency-keys.ts";
import { SqliteSchedules } from "../storage/sqlite/service/sqlite-schedules.ts";
import { SqliteWorkflowDefinitions } from "../storage/sqlite/service/sqlite-workflow-definitions.ts";
import { waitOutLocks } from "../storage/sqlite/wait-out-locks.ts";

/** Throws `JOURNAL_IO`, `JOURNAL_FULL`, `JOURNAL_DAMAGED` with the path. */
export function openServiceRecords(options: DatabaseOptions): ServiceRecords & { close(): void } {
  const database = openServiceDatabase(options);
  return {
    budgets: new SqliteBudgets(database),
    keys: waitOutLocks(new SqliteApiKeys(database)),
    deadLetters: waitOutLocks(new SqliteDeadLetterNotes(database)),
    idempotency: waitOutLocks(new SqliteIdempotencyKeys(database)),
    definitions: waitOutLocks(new SqliteWorkflowDefinitions(database)),
    deliveries: waitOutLocks(new SqliteDeliveries(database)),
    schedules: waitOutLocks(new SqliteSchedules(database)),
    close: () => database.close(),
  };
}
