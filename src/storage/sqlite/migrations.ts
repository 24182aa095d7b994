import type { DatabaseSync } from "node:sqlite";
import { PawlError } from "../../core/errors/pawl-error.ts";

/**
 * The steps from an empty file to today's tables: step n leads to version n. A released step is never edited; append one.
 * - `events.id` is run * 2^24 + seq. `value` comes last: a scan without it never follows large values to overflow pages.
 * - The partial indexes of `runs` hold only what goes on or sleeps: 100,000 parked runs cost a start nothing.
 * - Rows of `outbox` stay when they are done, so that ids are not used again.
 * - `commits` is the order of all runs: one short row for a batch, and none where it goes on with the run that was last, so that a
 *   step in sequence pays nothing for it.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE runs (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workflow_name TEXT NOT NULL,
    dialect TEXT NOT NULL,
    graph TEXT NOT NULL,
    definition TEXT NOT NULL,
    status TEXT NOT NULL,
    parked INTEGER NOT NULL,
    wake_at INTEGER,
    cost_micro INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    error TEXT,
    parent_run_id TEXT,
    tenant_id TEXT,
    callback_url TEXT
  );
  CREATE INDEX runs_by_status ON runs (status);
  CREATE INDEX runs_by_workflow ON runs (workflow_name);
  CREATE INDEX runs_by_tenant ON runs (tenant_id) WHERE tenant_id IS NOT NULL;
  CREATE INDEX runs_by_creation ON runs (created_at);
  CREATE INDEX runs_active ON runs (no)
    WHERE status NOT IN ('completed', 'partial', 'failed', 'cancelled', 'budget_exceeded') AND parked = 0;
  CREATE INDEX runs_asleep ON runs (wake_at)
    WHERE status NOT IN ('completed', 'partial', 'failed', 'cancelled', 'budget_exceeded') AND parked = 1 AND wake_at IS NOT NULL;

  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    path TEXT,
    attempt INTEGER,
    at INTEGER NOT NULL,
    cost_micro INTEGER,
    body TEXT,
    value TEXT
  );

  CREATE TABLE pins (hash TEXT PRIMARY KEY, text TEXT NOT NULL);

  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    run_no INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX outbox_open ON outbox (id) WHERE done = 0;
  CREATE INDEX outbox_open_by_kind ON outbox (kind, id) WHERE done = 0;`,
  `CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;
  CREATE INDEX outbox_by_run ON outbox (run_no);`,
  `CREATE TABLE commits (no INTEGER PRIMARY KEY, at INTEGER NOT NULL, entries TEXT NOT NULL);
  CREATE TABLE deleted_runs (no INTEGER PRIMARY KEY, tenant_id TEXT);

  ALTER TABLE runs ADD COLUMN open_approvals INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX runs_asking ON runs (no, open_approvals) WHERE open_approvals > 0;
  UPDATE runs SET open_approvals = 1 WHERE status = 'awaiting_approval';`,
  `CREATE TABLE violations (
    no INTEGER PRIMARY KEY,
    run_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    path TEXT NOT NULL,
    at INTEGER NOT NULL,
    policy TEXT NOT NULL,
    action TEXT NOT NULL,
    decision TEXT NOT NULL
  );
  CREATE INDEX violations_by_run ON violations (run_no);
  INSERT INTO violations (run_no, seq, path, at, policy, action, decision)
    SELECT events.id >> 24, events.id & 16777215, events.path, events.at,
      said.value ->> 'policy', said.value ->> 'action', said.value
    FROM events, json_each(events.body, '$.policies') AS said
    WHERE events.body LIKE '%"policies":%' ORDER BY events.at, events.id;`,
  // -1: nobody knows.
  "ALTER TABLE runs ADD COLUMN uncertain_micro INTEGER NOT NULL DEFAULT 0",
  // The same runs, under a condition that costs a write less.
  `DROP INDEX runs_active;
  DROP INDEX runs_asleep;
  CREATE INDEX runs_active ON runs (no)
    WHERE status <> 'completed' AND status <> 'partial' AND status <> 'failed' AND status <> 'cancelled' AND status <> 'budget_exceeded' AND parked = 0;
  CREATE INDEX runs_asleep ON runs (wake_at)
    WHERE status <> 'completed' AND status <> 'partial' AND status <> 'failed' AND status <> 'cancelled' AND status <> 'budget_exceeded' AND parked = 1 AND wake_at IS NOT NULL;`,
  "ALTER TABLE runs ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0",
  `CREATE TABLE places (
    run_no INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    most INTEGER NOT NULL,
    cancels INTEGER NOT NULL,
    taken INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX places_by_key ON places (key, taken, run_no);
  CREATE INDEX places_wanted ON places (key) WHERE cancels = 1 AND taken = 0;`,
];

/** Brings a journal file up to today's tables, each step in a transaction of its own. */
export function migrate(database: DatabaseSync): void {
  for (let version = readVersion(database); version < MIGRATIONS.length; version += 1) {
    database.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[version]}; PRAGMA user_version = ${version + 1}; COMMIT`);
  }
}

/** Throws `JOURNAL_NEWER` where the tables are of a later version of Pawl than this one. */
export function isMigrated(database: DatabaseSync, path: string): boolean {
  const version = readVersion(database);
  if (version > MIGRATIONS.length) throw newerFile(path, version, MIGRATIONS.length);
  return version === MIGRATIONS.length;
}

export function newerFile(path: string, version: number, known: number): PawlError {
  return new PawlError("JOURNAL_NEWER", {
    message: `${path} was written by a newer Pawl: its tables are version ${version}, this Pawl knows ${known}.`,
  });
}

export function readVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
}
