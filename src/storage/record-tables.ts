import { LEASES } from "./records/budget-leases.ts";
import type { Table } from "./records/record-table.ts";
import { KEYS } from "./records/sql-api-keys.ts";
import { BUDGETS, RAISES, SHARES } from "./records/sql-budgets.ts";
import { EXCHANGES } from "./records/sql-conversations.ts";
import { NOTES } from "./records/sql-dead-letter-notes.ts";
import { CLOSED, DELIVERIES, TRIES } from "./records/sql-deliveries.ts";
import { CLAIMS } from "./records/sql-idempotency-keys.ts";
import { EVENT_KEYS, EVENTS, WAITS } from "./records/sql-published-events.ts";
import { SCHEDULES, SLOTS } from "./records/sql-schedules.ts";
import { LOGINS } from "./records/sql-server-logins.ts";
import { START_RATES } from "./records/sql-start-rates.ts";
import { DEFINITIONS } from "./records/sql-workflow-definitions.ts";

/** The tables of the service, in an order in which they can be brought up to date. */
export const SERVICE_TABLES: readonly Table[] = [
  ...[KEYS, CLAIMS, NOTES, DELIVERIES, TRIES, CLOSED, SCHEDULES, SLOTS],
  ...[BUDGETS, SHARES, RAISES, LEASES, DEFINITIONS, LOGINS, EVENTS, EVENT_KEYS, WAITS, START_RATES],
];

export const CONVERSATION_TABLES: readonly Table[] = [EXCHANGES];
