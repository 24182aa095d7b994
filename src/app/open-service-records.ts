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
import type { StorageThread } from "./storage-thread/storage-thread.ts";
import { writeThere } from "./storage-thread/write-there.ts";

/** Those after which the next slot may be another one. */
const CHANGES_OF_SCHEDULES: readonly string[] = ["add", "edit", "remove"];

/**
 * `thread` is asked at each write: it does them from the moment on that there is one. Throws `JOURNAL_IO`, `JOURNAL_FULL`,
 * `JOURNAL_DAMAGED` with the path.
 */
export function openServiceRecords(
  options: DatabaseOptions,
  thread: () => StorageThread | undefined = () => undefined,
): ServiceRecords & { close(): void } {
  const database = openServiceDatabase(options);
  const schedules = new SqliteSchedules(database);
  const open = <Name extends keyof ServiceRecords>(name: Name, records: ServiceRecords[Name]) => {
    const written = (method: string) => {
      database.tellWritten();
      if (name === "schedules" && CHANGES_OF_SCHEDULES.includes(method)) schedules.tell();
    };
    return waitOutLocks(writeThere({ name, records, thread, written }));
  };
  return {
    budgets: open("budgets", new SqliteBudgets(database)),
    keys: open("keys", new SqliteApiKeys(database)),
    deadLetters: open("deadLetters", new SqliteDeadLetterNotes(database)),
    idempotency: open("idempotency", new SqliteIdempotencyKeys(database)),
    definitions: open("definitions", new SqliteWorkflowDefinitions(database)),
    deliveries: open("deliveries", new SqliteDeliveries(database)),
    schedules: open("schedules", schedules),
    close: () => database.close(),
  };
}
