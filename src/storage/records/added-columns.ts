import { KEYS } from "./sql-api-keys.ts";
import { BUDGETS } from "./sql-budgets.ts";
import { NOTES } from "./sql-dead-letter-notes.ts";
import { DELIVERIES } from "./sql-deliveries.ts";
import { SCHEDULES } from "./sql-schedules.ts";
import { DEFINITIONS } from "./sql-workflow-definitions.ts";

/** The last steps to today's tables of records: columns that are described as added. */
export const ADDED_COLUMNS = [BUDGETS, DEFINITIONS, DELIVERIES, KEYS, NOTES, SCHEDULES].flatMap((table) =>
  table.addedColumns(),
);
