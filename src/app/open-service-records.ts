import type { ServiceRecords } from "../operations/application/ports.ts";
import { withMethods } from "../operations/application/with-methods.ts";
import type { Conversations } from "../ports/conversations.ts";
import { refuseNewer } from "../storage/postgres/look-after-database.ts";
import { migrate } from "../storage/postgres/migrate.ts";
import { RECORD_MIGRATIONS } from "../storage/postgres/record-migrations.ts";
import { RecordDatabase, type RecordTraits } from "../storage/records/record-database.ts";
import { openApiKeys } from "../storage/records/sql-api-keys.ts";
import { openBudgets } from "../storage/records/sql-budgets.ts";
import { openConversationsOn } from "../storage/records/sql-conversations.ts";
import { openDeadLetterNotes } from "../storage/records/sql-dead-letter-notes.ts";
import { openDeliveries } from "../storage/records/sql-deliveries.ts";
import { openIdempotencyKeys } from "../storage/records/sql-idempotency-keys.ts";
import { SqlPublishedEvents } from "../storage/records/sql-published-events.ts";
import { openSchedules } from "../storage/records/sql-schedules.ts";
import { openServerLogins } from "../storage/records/sql-server-logins.ts";
import { openStartRates } from "../storage/records/sql-start-rates.ts";
import { openWorkflowDefinitions } from "../storage/records/sql-workflow-definitions.ts";
import type { SqlDatabase } from "../storage/sql/sql-database.ts";
import { openConversationFile, openServiceFile } from "../storage/sqlite/record-files.ts";
import type { DatabaseOptions } from "../storage/sqlite/sqlite-database.ts";
import { RECORD_WRITES, type ThreadRecords } from "./storage-thread/messages.ts";
import type { StorageThread } from "./storage-thread/storage-thread.ts";

type Thread = () => StorageThread | undefined;

export interface OpenServiceRecords extends ServiceRecords {
  close(): Promise<void>;
}

/** Those after which the next slot may be another one. */
const CHANGES_OF_SCHEDULES: readonly string[] = ["add", "edit", "remove"];

/** The file is asked for what another process has written whenever something is read. */
const inThisProcess: Thread = () => undefined;

/**
 * The records of a data directory. `thread` is asked at each write: it does them from the moment on that there is one. Throws
 * `JOURNAL_IO`, `JOURNAL_FULL`, `JOURNAL_DAMAGED` with the path.
 */
export function openServiceRecords(options: DatabaseOptions, thread = inThisProcess): OpenServiceRecords {
  const file = openServiceFile(options);
  return recordsIn(
    new RecordDatabase(file, { readMark: () => file.readVersion(), serverTime: "NULL", skipLocked: "" }),
    thread,
  );
}

/** A server does not say that others have written: what is remembered of it is believed for so long at most. */
const BELIEVED_MS = 1_000;

const ON_SERVER: RecordTraits = {
  readMark: async () => Math.floor(performance.now() / BELIEVED_MS),
  serverTime: "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
  skipLocked: "FOR UPDATE SKIP LOCKED",
};

/** All records of a PostgreSQL database, whose tables are made where they are missing. To close them closes it. */
export async function openRecordsOn(
  database: SqlDatabase,
): Promise<OpenServiceRecords & { readonly conversations: Conversations }> {
  await refuseNewer(database);
  await migrate(database, RECORD_MIGRATIONS);
  const records = recordsIn(new RecordDatabase(database, ON_SERVER));
  return { ...records, conversations: openConversationsOn(database) };
}

export function openConversations(options: DatabaseOptions, thread = inThisProcess): Conversations {
  const records = openConversationsOn(openConversationFile(options));
  return writeThere({ name: "conversations", records, thread });
}

function recordsIn(database: RecordDatabase, thread = inThisProcess): OpenServiceRecords {
  const schedules = openSchedules(database);
  const open = <Name extends keyof ServiceRecords>(name: Name, records: ServiceRecords[Name]) => {
    const written = (method: string) => {
      database.tellWritten();
      if (name === "schedules" && CHANGES_OF_SCHEDULES.includes(method)) schedules.tell();
    };
    return writeThere({ name, records, thread, written });
  };
  return {
    budgets: open("budgets", openBudgets(database)),
    keys: open("keys", openApiKeys(database)),
    deadLetters: open("deadLetters", openDeadLetterNotes(database)),
    idempotency: open("idempotency", openIdempotencyKeys(database)),
    definitions: open("definitions", openWorkflowDefinitions(database)),
    deliveries: open("deliveries", openDeliveries(database)),
    events: open("events", new SqlPublishedEvents(database)),
    rates: open("rates", openStartRates(database)),
    schedules: open("schedules", schedules),
    logins: open("logins", openServerLogins(database)),
    close: () => database.close(),
  };
}

interface WrittenThere<Records extends object> {
  readonly name: keyof ThreadRecords;
  readonly records: Records;
  /** Asked at each write. Undefined: it is done here. */
  thread(): StorageThread | undefined;
  /** What is remembered here is old. */
  written?(method: string): void;
}

type Call = (...parameters: unknown[]) => unknown;

/** The same records, whose writing calls are made on the thread. */
function writeThere<Records extends object>(parts: WrittenThere<Records>): Records {
  const { name, records, thread, written } = parts;
  const writes = RECORD_WRITES[name].map((method: string): [string, Call] => {
    // Looked for when it is called: a test may have replaced it.
    const here: Call = (...parameters) => Reflect.apply(Reflect.get(records, method) as Call, records, parameters);
    const call: Call = (...parameters) =>
      thread()
        ?.write(name, method, parameters)
        ?.finally(() => written?.(method)) ?? here(...parameters);
    return [method, call];
  });
  return withMethods(records, Object.fromEntries(writes) as Partial<Records>);
}
