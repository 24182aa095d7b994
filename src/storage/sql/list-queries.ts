import { parseExact } from "../../core/exact-json.ts";
import type { PolicyDecision } from "../../core/graph/policy.ts";
import type { RunFilter, RunSelection, RunStatus, ViolationFilter, ViolationRecord } from "../../ports/journal.ts";
import { RUN_COLUMNS } from "./run-row.ts";

interface Query {
  readonly text: string;
  readonly parameters: readonly (string | number)[];
}

/** Rows by their numbers, both included: a statement looks at no others, so that its cost is bounded whatever is asked for. */
export interface Slice {
  readonly first: number;
  readonly last: number;
}

/**
 * Several statuses are asked for one by one and merged: each part then stops at its limit in the index
 * of statuses, where a single `IN` would read and sort every run that ever had one of them.
 */
export function listRunsQuery(filter: RunFilter, slice: Slice): Query {
  if (filter.status === undefined) return nextRuns(filter, slice, { offset: filter.offset ?? 0 });
  // The offset counts in the merged list, so that each part must reach as far.
  const reach = { ...filter, limit: filter.limit + (filter.offset ?? 0) };
  const parts = [...new Set(filter.status)].map((status) => nextRuns(reach, slice, { status, offset: 0 }));
  if (parts.length === 0) return { text: `SELECT ${RUN_COLUMNS} FROM runs LIMIT 0`, parameters: [] };
  return {
    text: `${parts.map(({ text }, n) => `SELECT * FROM (${text}) AS part${n}`).join(" UNION ALL ")}
      ORDER BY no ${orderOf(filter)} LIMIT ? OFFSET ?`,
    parameters: [...parts.flatMap(({ parameters }) => parameters), filter.limit, filter.offset ?? 0],
  };
}

export function countRunsQuery(selection: RunSelection, slice: Slice): Query {
  const statuses = selection.status === undefined ? [undefined] : [...new Set(selection.status)];
  const parts = statuses.map((status) => {
    const { where, parameters } = toWhere(selection, slice, status);
    return { text: `SELECT count(*) AS part FROM runs ${where}`, parameters };
  });
  if (parts.length === 0) return { text: "SELECT 0 AS total", parameters: [] };
  return {
    text: `SELECT sum(part) AS total FROM (${parts.map(({ text }) => text).join(" UNION ALL ")}) AS parts`,
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

/** No index holds the sizes: each write of a row would pay for it. */
export function sumStoredQuery(tenantId: string, { first, last }: Slice): Query {
  return {
    text: "SELECT CAST(coalesce(sum(stored_bytes), 0) AS BIGINT) AS total FROM runs WHERE tenant_id = ? AND no >= ? AND no <= ?",
    parameters: [tenantId, first, last],
  };
}

/** By groups: `||` keeps a planner from the index of statuses, of which each slice would read all. */
export function countByStatusQuery(selection: Omit<RunSelection, "status">, slice: Slice): Query {
  const { where, parameters } = toWhere(selection, slice, undefined);
  return { text: `SELECT status || '' AS status, count(*) AS count FROM runs ${where} GROUP BY 1`, parameters };
}

export interface StatusCount {
  readonly status: RunStatus;
  readonly count: number;
}

/**
 * The numbers between which the runs of a time lie, and how many these are, up to a few. Undefined: no time is asked for.
 * Numbers and times grow together, but for clocks that are set back: so it is counted, not assumed.
 */
export function createdWithinQuery({ createdFrom, createdBefore }: RunSelection, atMost: number): Query | undefined {
  const { where, parameters } = allOf(
    given([
      ["created_at >= ?", createdFrom],
      ["created_at < ?", createdBefore],
    ]),
  );
  if (parameters.length === 0) return undefined;
  return {
    text: `SELECT count(*) AS count, min(no) AS first, max(no) AS last FROM (SELECT no FROM runs ${where} LIMIT ?) AS few`,
    parameters: [...parameters, atMost],
  };
}

/** Newest first: rows are walked back from the end, and those of one run are found by its number. */
export function listViolationsQuery(filter: ViolationFilter, slice: Slice): Query {
  const { run, workflow, tenantId, policy, action, from, before, limit } = filter;
  const { where, parameters } = allOf(
    given([
      ["violations.run_no = ?", run],
      ["runs.workflow_name = ?", workflow],
      ["runs.tenant_id = ?", tenantId],
      ["violations.policy = ?", policy],
      ["violations.action = ?", action],
      ["violations.at >= ?", from],
      ["violations.at < ?", before],
      ["violations.no >= ?", slice.first],
      ["violations.no <= ?", slice.last],
    ]).concat({ sql: "runs.no = violations.run_no", values: [] }),
  );
  return {
    // A cross join keeps the order of the tables: a planner that begins with the runs sorts all of their violations.
    text: `SELECT violations.no, seq, path, violations.at, decision, runs.id AS "runId", runs.workflow_name AS "workflow",
        runs.tenant_id AS "tenantId"
      FROM violations CROSS JOIN runs ${where} ORDER BY violations.no DESC LIMIT ?`,
    parameters: [...parameters, limit],
  };
}

export interface ViolationRow extends Pick<ViolationRecord, "no" | "seq" | "path" | "at"> {
  readonly decision: string;
  readonly runId: string;
  readonly workflow: string;
  readonly tenantId: string | null;
}

export function toViolation({ decision, runId: id, workflow, tenantId, ...place }: ViolationRow): ViolationRecord {
  const run = { id, workflow, tenantId: tenantId ?? undefined };
  return { ...place, run, decision: parseExact(decision) as PolicyDecision };
}

function nextRuns(
  filter: RunFilter,
  slice: Slice,
  { status, offset }: { readonly status?: RunStatus; readonly offset: number },
): Query {
  const { where, parameters } = toWhere(filter, slice, status);
  return {
    text: `SELECT ${RUN_COLUMNS} FROM runs ${where} ORDER BY no ${orderOf(filter)} LIMIT ? OFFSET ?`,
    parameters: [...parameters, filter.limit, offset],
  };
}

export function orderOf({ afterRun }: Pick<RunFilter, "afterRun">): "ASC" | "DESC" {
  return afterRun === undefined ? "DESC" : "ASC";
}

/** The plus keeps a planner from the index of times, which knows no slices. */
function toWhere(selection: RunSelection, slice: Slice, status: RunStatus | undefined) {
  const asked = given([
    ["status = ?", status],
    ["workflow_name = ?", selection.workflow],
    ["dialect = ?", selection.dialect],
    ["tenant_id = ?", selection.tenantId],
    ["parent_run_id = ?", selection.parentRunId],
    ["+created_at >= ?", selection.createdFrom],
    ["+created_at < ?", selection.createdBefore],
    ["no >= ?", slice.first],
    ["no <= ?", slice.last],
  ]);
  // Word by word as the partial index has it.
  if (selection.hasApprovals === true) asked.push({ sql: "open_approvals > 0", values: [] });
  if (selection.holdsSteps === true) asked.push({ sql: "completed_at IS NULL AND error IS NOT NULL", values: [] });
  if (selection.dueAt !== undefined) {
    const sql = "completed_at IS NULL AND error IS NULL AND (parked = 0 OR wake_at <= ?)";
    asked.push({ sql, values: [selection.dueAt] });
  }
  // A pattern ends at a NUL for SQLite, and the rest would fit anything. No row has one in these columns.
  if (selection.text?.includes("\0") === true) asked.push({ sql: "1 = 0", values: [] });
  else if (selection.text !== undefined) {
    const pattern = `%${toLower(selection.text).replaceAll(/[\\%_]/g, "\\$&")}%`;
    const sql = ["id", "workflow_name", "coalesce(error, '')"].map((column) => `lower(${column}) LIKE ? ESCAPE '\\'`);
    asked.push({ sql: `(${sql.join(" OR ")})`, values: [pattern, pattern, pattern] });
  }
  return allOf(asked);
}

interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** The conditions whose value is given. */
function given(conditions: readonly (readonly [sql: string, value: string | number | undefined])[]): Condition[] {
  return conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, values: [value] }]));
}

function allOf(asked: readonly Condition[]) {
  return {
    where: asked.length === 0 ? "" : `WHERE ${asked.map(({ sql }) => sql).join(" AND ")}`,
    parameters: asked.flatMap(({ values }) => values),
  };
}

/** As databases do it that compare texts byte by byte. */
function toLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
