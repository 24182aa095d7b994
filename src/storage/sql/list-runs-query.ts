import type { RunFilter, RunSelection, RunStatus } from "../../ports/journal.ts";
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
  if (filter.status === undefined) return newestRuns(filter, undefined, filter.offset ?? 0);
  // The offset counts in the merged list, so that each part must reach as far.
  const reach = { ...filter, limit: filter.limit + (filter.offset ?? 0) };
  const parts = [...new Set(filter.status)].map((status) => newestRuns(reach, status, 0));
  if (parts.length === 0) return { text: `SELECT ${RUN_COLUMNS} FROM runs LIMIT 0`, parameters: [] };
  return {
    text: `${parts.map(({ text }, n) => `SELECT * FROM (${text}) AS part${n}`).join(" UNION ALL ")}
      ORDER BY no DESC LIMIT ? OFFSET ?`,
    parameters: [...parts.flatMap(({ parameters }) => parameters), filter.limit, filter.offset ?? 0],
  };
}

export function countRunsQuery(selection: RunSelection): Query {
  const statuses = selection.status === undefined ? [undefined] : [...new Set(selection.status)];
  const parts = statuses.map((status) => {
    const { where, parameters } = toWhere(selection, status, undefined);
    return { text: `SELECT count(*) AS part FROM runs ${where}`, parameters };
  });
  if (parts.length === 0) return { text: "SELECT 0 AS total", parameters: [] };
  return {
    text: `SELECT sum(part) AS total FROM (${parts.map(({ text }) => text).join(" UNION ALL ")}) AS parts`,
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

function newestRuns(filter: RunFilter, status: RunStatus | undefined, offset: number): Query {
  const { where, parameters } = toWhere(filter, status, filter.beforeRun);
  return {
    text: `SELECT ${RUN_COLUMNS} FROM runs ${where} ORDER BY no DESC LIMIT ? OFFSET ?`,
    parameters: [...parameters, filter.limit, offset],
  };
}

function toWhere(selection: RunSelection, status: RunStatus | undefined, beforeRun: number | undefined) {
  const conditions: readonly (readonly [sql: string, value: string | number | undefined])[] = [
    ["status = ?", status],
    ["workflow_name = ?", selection.workflow],
    ["tenant_id = ?", selection.tenantId],
    ["parent_run_id = ?", selection.parentRunId],
    ["created_at >= ?", selection.createdFrom],
    ["created_at < ?", selection.createdBefore],
    ["no < ?", beforeRun],
  ];
  const asked = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, values: [value] }]));
  // Word by word as the partial index has it.
  if (selection.hasApprovals === true) asked.push({ sql: "open_approvals > 0", values: [] });
  // A pattern ends at a NUL for SQLite, and the rest would fit anything. No row has one in these columns.
  if (selection.text?.includes("\0") === true) asked.push({ sql: "1 = 0", values: [] });
  else if (selection.text !== undefined) {
    const pattern = `%${selection.text.replaceAll(/[\\%_]/g, "\\$&")}%`;
    const sql = ["id", "workflow_name", "coalesce(error, '')"].map((column) => `${column} LIKE ? ESCAPE '\\'`);
    asked.push({ sql: `(${sql.join(" OR ")})`, values: [pattern, pattern, pattern] });
  }
  return {
    where: asked.length === 0 ? "" : `WHERE ${asked.map(({ sql }) => sql).join(" AND ")}`,
    parameters: asked.flatMap(({ values }) => values),
  };
}
