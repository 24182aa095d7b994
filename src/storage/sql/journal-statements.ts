import { RUN_COLUMNS } from "./run-row.ts";

/**
 * The journal's statements as plain SQL with `?` for parameters. Events are keyed by run * 2^24 + seq: one integer key
 * in the order of the history, measured twice as fast as a key of two columns. So a run's last number is one seek away
 * and is not stored with the run: a commit of one event would then write a second page, measured at a tenth of its time.
 */

/**
 * The partial indexes contain this condition word by word; otherwise they are not used. Said negatively, since a planner
 * that is given the open statuses goes through the index of statuses instead, and with it through every parked run. Not as
 * `NOT IN`: SQLite builds a table of the list for each row that is written, measured at a third of all that a run's row costs.
 */
export const UNFINISHED =
  "status <> 'completed' AND status <> 'partial' AND status <> 'failed' AND status <> 'cancelled' AND status <> 'budget_exceeded'";

export const INSERT_RUN = `INSERT INTO runs (no, id, workflow_name, dialect, graph, definition, status,
    parked, wake_at, cost_micro, created_at, started_at, completed_at, error, parent_run_id, tenant_id, callback_url,
    open_approvals, uncertain_micro, stored_bytes)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The most frequent patch by far: it touches no index. */
export const PATCH_COST = `UPDATE runs SET cost_micro = coalesce(?, cost_micro), uncertain_micro = coalesce(?, uncertain_micro),
    stored_bytes = coalesce(?, stored_bytes)
  WHERE no = ?`;

/** `wake_at` and `error` can be cleared: a flag before each says whether the value counts. */
export const PATCH_RUN = `UPDATE runs SET cost_micro = coalesce(?, cost_micro), uncertain_micro = coalesce(?, uncertain_micro),
    stored_bytes = coalesce(?, stored_bytes), status = coalesce(?, status), parked = coalesce(?, parked), started_at = coalesce(?, started_at),
    completed_at = coalesce(?, completed_at), open_approvals = coalesce(?, open_approvals), wake_at = CASE WHEN ? THEN ? ELSE wake_at END,
    error = CASE WHEN ? THEN ? ELSE error END
  WHERE no = ?`;

export const EVENT_COLUMNS = 8;

/** Several rows in one statement cost a quarter less than each in its own. */
export const EVENTS_AT_ONCE = 8;

export const INSERT_EVENT = insertEvents(1);
export const INSERT_EVENTS = insertEvents(EVENTS_AT_ONCE);

function insertEvents(rows: number): string {
  const row = "(?, ?, ?, ?, ?, ?, ?, ?)";
  return `INSERT INTO events (id, type, path, attempt, at, cost_micro, body, value)
  VALUES ${new Array(rows).fill(row).join(", ")}`;
}

export const INSERT_COMMIT = "INSERT INTO commits (at, entries) VALUES (?, ?)";

export const SELECT_COMMITS = "SELECT no, at, entries FROM commits WHERE no >= ? ORDER BY no LIMIT ?";

export const SELECT_NEWEST_COMMIT = "SELECT no, at, entries FROM commits ORDER BY no DESC LIMIT 1";

export const SELECT_LOGGED_RUN = `SELECT id, workflow_name AS "workflow", tenant_id AS "tenantId" FROM runs WHERE no = ?`;

export const INSERT_DELETED_RUN =
  "INSERT INTO deleted_runs (no, tenant_id) SELECT no, tenant_id FROM runs WHERE no = ?";

export const SELECT_DELETED_RUN = `SELECT tenant_id AS "tenantId" FROM deleted_runs WHERE no = ?`;

/** The index holds the column: no row of a run is read. */
export const SUM_APPROVALS = "SELECT coalesce(sum(open_approvals), 0) AS total FROM runs WHERE open_approvals > 0";

export const INSERT_VIOLATION = `INSERT INTO violations (run_no, seq, path, at, policy, action, decision)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

export const DELETE_VIOLATIONS = "DELETE FROM violations WHERE run_no = ?";

export const INSERT_PIN = "INSERT INTO pins (hash, text) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING";

export const INSERT_OUTBOX = "INSERT INTO outbox (run_no, kind, body, created_at) VALUES (?, ?, ?, ?)";

/** Deleted ones too: the order of all runs names them. */
export const SELECT_NEWEST_RUN =
  "SELECT max(no) AS newest FROM (SELECT max(no) AS no FROM runs UNION ALL SELECT max(no) FROM deleted_runs) AS known";

export const SELECT_EVENTS = `SELECT id, type, path, attempt, at, cost_micro, body FROM events
  WHERE id > ? AND id < ? ORDER BY id LIMIT ?`;

export const SELECT_LAST_EVENT = "SELECT max(id) AS id FROM events WHERE id > ? AND id < ?";

export const SELECT_VALUE = "SELECT value FROM events WHERE id = ?";

export const SELECT_RUN = `SELECT ${RUN_COLUMNS} FROM runs WHERE no = ?`;

export const SELECT_RUN_BY_ID = `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ?`;

/** Every text that begins with a prefix sorts from it to below the prefix with the highest code point behind it. */
export function prefixRange(prefix: string): readonly [string, string] {
  return [prefix, `${prefix}\u{10FFFF}`];
}

/** A range instead of LIKE: it uses the index and knows no wildcards. */
export const SELECT_RUNS_BY_PREFIX = `SELECT ${RUN_COLUMNS} FROM runs WHERE id >= ? AND id < ? LIMIT 2`;

export const SELECT_ACTIVE = `SELECT ${RUN_COLUMNS} FROM runs
  WHERE ${UNFINISHED} AND parked = 0 AND no > ? ORDER BY no LIMIT ?`;

/** The plus keeps a planner from walking all runs in the order of their numbers instead of the few that are awake. */
export const SELECT_AWAKE = `SELECT ${RUN_COLUMNS} FROM runs
  WHERE ${UNFINISHED} AND parked = 1 AND wake_at IS NOT NULL AND wake_at <= ? AND +no > ? ORDER BY +no LIMIT ?`;

export const SELECT_NEXT_WAKE_AT = `SELECT wake_at AS "wakeAt" FROM runs
  WHERE ${UNFINISHED} AND parked = 1 AND wake_at IS NOT NULL ORDER BY wake_at LIMIT 1`;

/** `places` holds a row for each unfinished run that has a place of its key, or waits in line for one: a place is free when its run has ended. */
export const INSERT_PLACE =
  "INSERT INTO places (run_no, key, most, cancels) VALUES (?, ?, ?, ?) ON CONFLICT (run_no) DO NOTHING";

export const DELETE_PLACE = "DELETE FROM places WHERE run_no = ?";

export const COUNT_PLACES = "SELECT count(*) AS count FROM places WHERE key = ?";

/** The first ones in line, until one would be more than it says there may be: those behind it do not overtake it. */
export const givePlaces = (key: string) => `UPDATE places SET taken = 1 WHERE run_no IN (
    SELECT run_no FROM (
      SELECT run_no, min(most - turn) OVER (ORDER BY run_no) AS room FROM (
        SELECT run_no, most, row_number() OVER (ORDER BY run_no) AS turn FROM places
        WHERE key = ${key} AND taken = 0 ORDER BY run_no LIMIT 100) AS line) AS first
    WHERE room >= (SELECT count(*) FROM places WHERE key = ${key} AND taken = 1))
  RETURNING run_no`;

export const GO_ON = "UPDATE runs SET parked = 0 WHERE no = ?";

export const selectLine = () => `SELECT runs.id AS "holder", (SELECT count(*) FROM places AS ahead
      WHERE ahead.key = own.key AND ahead.taken = 0 AND ahead.run_no < own.run_no) AS "before"
  FROM places AS own LEFT JOIN places AS held ON held.key = own.key AND held.taken = 1 LEFT JOIN runs ON runs.no = held.run_no
  WHERE own.run_no = ? AND own.taken = 0 ORDER BY held.run_no LIMIT 5`;

/** Of a key whose newest run waits and wants the older ones cancelled, all but as many of the newest as there are places. */
export const selectOvertaken = () => `SELECT runs.id FROM places AS old JOIN runs ON runs.no = old.run_no
  WHERE old.key IN (SELECT key FROM places WHERE cancels = 1 AND taken = 0)
    AND (SELECT count(*) FROM places AS newer WHERE newer.key = old.key AND newer.run_no > old.run_no) >= old.most
    AND EXISTS (SELECT 1 FROM places AS newer WHERE newer.key = old.key AND newer.run_no > old.run_no AND newer.cancels = 1)
  ORDER BY old.run_no LIMIT 100`;

export const SELECT_PIN = "SELECT text FROM pins WHERE hash = ?";

const OUTBOX_COLUMNS = `id, run_no AS run, kind, body, created_at AS "createdAt"`;

export const SELECT_OUTBOX = `SELECT ${OUTBOX_COLUMNS} FROM outbox WHERE done = 0 AND id > ? ORDER BY id LIMIT ?`;

export const SELECT_OUTBOX_OF_KIND = `SELECT ${OUTBOX_COLUMNS} FROM outbox
  WHERE done = 0 AND kind = ? AND id > ? ORDER BY id LIMIT ?`;

export const FINISH_OUTBOX = "UPDATE outbox SET done = 1 WHERE id = ?";

export const DELETE_EVENTS = "DELETE FROM events WHERE id > ? AND id < ?";

/** The rows stay without what they said: an id that is free again would be taken for another delivery's. */
export const EMPTY_OUTBOX = "UPDATE outbox SET done = 1, body = '{}' WHERE run_no = ?";

export const DELETE_RUN = "DELETE FROM runs WHERE no = ?";
