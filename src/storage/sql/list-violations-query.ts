import type { ViolationFilter } from "../../ports/journal.ts";

/** Newest first: rows are walked back from the end, and those of one run are found by its number. */
export function listViolationsQuery(filter: ViolationFilter): {
  readonly text: string;
  readonly parameters: readonly (string | number)[];
} {
  const { run, workflow, tenantId, policy, action, from, before, beforeNo, limit } = filter;
  const conditions: readonly (readonly [sql: string, value: string | number | undefined])[] = [
    ["violations.run_no = ?", run],
    ["runs.workflow_name = ?", workflow],
    ["runs.tenant_id = ?", tenantId],
    ["violations.policy = ?", policy],
    ["violations.action = ?", action],
    ["violations.at >= ?", from],
    ["violations.at < ?", before],
    ["violations.no < ?", beforeNo],
  ];
  const asked = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const where = asked.length === 0 ? "" : `WHERE ${asked.map(({ sql }) => sql).join(" AND ")}`;
  return {
    // A cross join keeps the order of the tables: a planner that begins with the runs sorts all of their violations.
    text: `SELECT violations.no, seq, path, violations.at, decision, runs.id AS "runId", runs.workflow_name AS "workflow",
        runs.tenant_id AS "tenantId"
      FROM violations CROSS JOIN runs ON runs.no = violations.run_no ${where} ORDER BY violations.no DESC LIMIT ?`,
    parameters: [...asked.map(({ value }) => value), limit],
  };
}
