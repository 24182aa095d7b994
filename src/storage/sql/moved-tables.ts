import type { Sql } from "./sql-database.ts";

/** A value of a column as both databases have it. Whole numbers are exact below 2^53. */
type MovedValue = string | number | null;
/** The columns of a row, in the order of its table. */
export type MovedRow = readonly MovedValue[];

/** Where a table lies in a data directory: each place is a file there. In PostgreSQL they are one database. */
type Place = "journal" | "service" | "conversations";

export interface MovedTable {
  readonly name: string;
  readonly place: Place;
  readonly columns: readonly { readonly name: string; readonly isNumber: boolean }[];
  /** Rows are read in this order, which is the same in both databases. */
  readonly key: readonly string[];
}

/** `columns` are names; `#` marks a whole number. */
function table(place: Place, name: string, columns: string, key?: string): MovedTable {
  const named = columns.split(" ").map((text) => ({ name: text.replace("#", ""), isNumber: text.endsWith("#") }));
  return { name, place, columns: named, key: (key ?? named[0]?.name ?? "").split(" ") };
}

/**
 * All that is recorded, in the order in which it is moved. Left out is what belongs to processes: `workers`, the inbox, and who
 * drives a run. `commits` are moved as the order that they stand for, since each database numbers them in its own way.
 */
export const MOVED_TABLES: readonly MovedTable[] = [
  table("journal", "pins", "hash text"),
  table(
    "journal",
    "runs",
    "no# id workflow_name dialect graph definition status parked# wake_at# cost_micro# uncertain_micro# open_approvals# created_at# started_at# completed_at# error parent_run_id tenant_id callback_url",
  ),
  table("journal", "events", "id# type path attempt# at# cost_micro# body value"),
  table("journal", "outbox", "id# run_no# kind body created_at# done#"),
  table("journal", "violations", "no# run_no# seq# path at# policy action decision"),
  table("journal", "deleted_runs", "no# tenant_id"),
  table(
    "service",
    "api_keys",
    "id name secret_hash scopes tenant_id max_cost_micro# created_at# expires_at# revoked_at# tells_context# grant",
  ),
  table("service", "idempotency_keys", "tenant_id key request_hash run_id at#", "tenant_id key"),
  table(
    "service",
    "workflow_definitions",
    "tenant_id name version# text at# starts_by max_cost_micro# grant",
    "tenant_id name version",
  ),
  table("service", "dead_letter_notes", "run path status at# note new_run pending#", "run path"),
  table(
    "service",
    "deliveries",
    "no# id tenant_id event run_id workflow url reads_env# headers body lane created_at# status next_at# ended_at# reason round# tries# tries_in_round# channel claimed_by claimed_until#",
  ),
  table("service", "delivery_tries", "no# delivery at# duration_ms# status# error excerpt"),
  table("service", "closed_addresses", "tenant_id workflow url at#", "tenant_id workflow url"),
  table(
    "service",
    "schedules",
    "id workflow_name cron_expression timezone input_data notify enabled# disabled_reason overlap catch_up jitter_seconds# source tenant_id max_cost_micro# last_run_id next_fire_at# due_at# version# created_at# updated_at# grant",
  ),
  table(
    "service",
    "schedule_slots",
    "seq# schedule_id slot# kind state reason message run_id last_slot# count# at# is_over#",
  ),
  table(
    "service",
    "budgets",
    "id workflow tenant_id per cost# tokens# tries# duration# on_exceeded webhook created_at# updated_at#",
  ),
  table(
    "service",
    "budget_shares",
    "budget day run cost# tokens# tries# duration# unpriced# seq# holder",
    "budget day run",
  ),
  table("service", "budget_raises", "id budget day cost# tokens# tries# duration#", "budget day id"),
  table("service", "budget_leases", "budget day holder cost# tokens# tries# duration# wanted_as#", "budget day holder"),
  table("conversations", "exchanges", "no# tenant agent session key at# user_said agent_said"),
];

/** Events of a run that were committed one after the other, with nothing of other runs in between. */
export interface MovedPart {
  readonly run: number;
  readonly afterSeq: number;
  readonly count: number;
}

/** The order of all runs, as if it were a table. */
export const MOVED_ORDER: MovedTable = table("journal", "order", "run# after_seq# count#");

/** All that is recorded in one place, for who moves it. */
export interface MovedData {
  sql(place: Place): Sql;
  insert(table: MovedTable, rows: readonly MovedRow[]): Promise<void>;
  /** The parts of the order of all runs. Neighbours may belong together. */
  readOrder(): AsyncIterable<MovedPart>;
  /** In order. `left`: how many parts come after these. */
  insertOrder(parts: readonly MovedPart[], left: number): Promise<void>;
  /** What is added from now on has other numbers than what was inserted. */
  finish(): Promise<void>;
}

const ROWS_AT_ONCE = 500;

export async function* readRows(sql: Sql, moved: MovedTable): AsyncGenerator<MovedRow> {
  const columns = moved.columns.map(({ name }) => quote(name)).join(", ");
  const key = moved.key.map(quote).join(", ");
  const marks = moved.key.map(() => "?").join(", ");
  const end = `ORDER BY ${key} LIMIT ${ROWS_AT_ONCE}`;
  const [first, next] = ["", `WHERE (${key}) > (${marks})`].map(
    (where) => `SELECT ${columns} FROM ${quote(moved.name)} ${where} ${end}`,
  );
  for (let after: readonly MovedValue[] = []; ; ) {
    const text = (after.length === 0 ? first : next) ?? "";
    const rows = await sql.all<Readonly<Record<string, MovedValue>>>(text, ...after);
    for (const row of rows) yield moved.columns.map(({ name }) => row[name] ?? null);
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return;
    after = moved.key.map((name) => last[name] ?? null);
  }
}

export function quote(name: string): string {
  return `"${name}"`;
}
