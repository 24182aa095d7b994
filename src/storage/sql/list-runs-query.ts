import type { RunFilter, RunStatus } from "../../ports/journal.ts";
import { RUN_COLUMNS } from "./run-row.ts";

interface Query {
  readonly text: string;
  readonly parameters: readonly (string | number)[];
}

/**
 * Newest first. Several statuses are asked for one by one and merged: each part then stops at its limit in the index
 * of statuses, where a single `IN` would read and sort every run that ever had one of them.
 */
export function listRunsQuery(filter: RunFilter): Query {
  if (filter.status === undefined) return newestRuns(filter, undefined);
  const parts = [...new Set(filter.status)].map((status) => newestRuns(filter, status));
  if (parts.length === 0) return { text: `SELECT ${RUN_COLUMNS} FROM runs LIMIT 0`, parameters: [] };
  return {
    text: `${parts.map(({ text }, n) => `SELECT * FROM (${text}) AS part${n}`).join(" UNION ALL ")}
      ORDER BY no DESC LIMIT ?`,
    parameters: [...parts.flatMap(({ parameters }) => parameters), filter.limit],
  };
}

function newestRuns(filter: RunFilter, status: RunStatus | undefined): Query {
  const conditions: readonly (readonly [sql: string, value: string | number | undefined])[] = [
    ["status = ?", status],
    ["workflow_name = ?", filter.workflow],
    ["tenant_id = ?", filter.tenantId],
    ["created_at >= ?", filter.createdFrom],
    ["created_at < ?", filter.createdBefore],
    ["no < ?", filter.beforeRun],
  ];
  const asked = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const where = asked.length === 0 ? "" : `WHERE ${asked.map(({ sql }) => sql).join(" AND ")}`;
  return {
    text: `SELECT ${RUN_COLUMNS} FROM runs ${where} ORDER BY no DESC LIMIT ?`,
    parameters: [...asked.map(({ value }) => value), filter.limit],
  };
}
