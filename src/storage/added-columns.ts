import { KEYS } from "./records/sql-api-keys.ts";
import { BUDGETS } from "./records/sql-budgets.ts";
import { NOTES } from "./records/sql-dead-letter-notes.ts";
import { DELIVERIES } from "./records/sql-deliveries.ts";
import { SCHEDULES } from "./records/sql-schedules.ts";
import { DEFINITIONS } from "./records/sql-workflow-definitions.ts";

/** The last steps to today's tables of records: columns that are described as added. */
export const ADDED_COLUMNS = [BUDGETS, DEFINITIONS, DELIVERIES, KEYS, NOTES, SCHEDULES].flatMap((table) =>
  table.addedColumns(),
);
