-- api-keys-1
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  scopes TEXT NOT NULL,
  tenant_id TEXT,
  max_cost_micro INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
);

-- idempotency-keys-1
CREATE TABLE idempotency_keys (
  tenant_id TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  run_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);

-- workflow-definitions-1
CREATE TABLE workflow_definitions (
  tenant_id TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, name, version)
);

-- dead-letter-notes-1
CREATE TABLE dead_letter_notes (
  run TEXT NOT NULL,
  path TEXT NOT NULL,
  status TEXT NOT NULL,
  at INTEGER NOT NULL,
  note TEXT,
  new_run TEXT,
  PRIMARY KEY (run, path)
);

-- deliveries-1
CREATE TABLE deliveries (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant_id TEXT,
  event TEXT NOT NULL,
  run_id TEXT,
  workflow TEXT NOT NULL,
  url TEXT NOT NULL,
  reads_env INTEGER NOT NULL,
  headers TEXT NOT NULL,
  body TEXT NOT NULL,
  lane TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  next_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL DEFAULT 0,
  reason TEXT NOT NULL DEFAULT '',
  round INTEGER NOT NULL DEFAULT 1,
  tries INTEGER NOT NULL DEFAULT 0,
  tries_in_round INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE status = 'pending';
CREATE INDEX deliveries_by_run ON deliveries (run_id);
CREATE INDEX deliveries_by_end ON deliveries (ended_at) WHERE status <> 'pending';
CREATE TABLE delivery_tries (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  delivery TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  excerpt TEXT
);
CREATE INDEX delivery_tries_by_delivery ON delivery_tries (delivery);
CREATE TABLE closed_addresses (
  tenant_id TEXT NOT NULL,
  workflow TEXT NOT NULL,
  url TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, workflow, url)
) WITHOUT ROWID;

-- schedules-1
CREATE TABLE schedules (
  id TEXT PRIMARY KEY,
  workflow_name TEXT NOT NULL,
  cron_expression TEXT NOT NULL,
  timezone TEXT NOT NULL,
  input_data TEXT NOT NULL,
  notify TEXT,
  enabled INTEGER NOT NULL,
  disabled_reason TEXT,
  overlap TEXT NOT NULL,
  catch_up TEXT NOT NULL,
  jitter_seconds INTEGER NOT NULL,
  source TEXT NOT NULL,
  tenant_id TEXT,
  max_cost_micro INTEGER,
  last_run_id TEXT,
  next_fire_at INTEGER,
  due_at INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX schedules_due ON schedules (due_at) WHERE enabled = 1;
CREATE TABLE schedule_slots (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  schedule_id TEXT NOT NULL,
  slot INTEGER NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  message TEXT,
  run_id TEXT,
  last_slot INTEGER,
  count INTEGER NOT NULL,
  at INTEGER NOT NULL,
  is_over INTEGER NOT NULL DEFAULT 0,
  UNIQUE (schedule_id, slot, kind)
);
CREATE INDEX schedule_slots_pending ON schedule_slots (schedule_id, slot) WHERE state IN ('claimed', 'queued');
CREATE INDEX schedule_slots_running ON schedule_slots (schedule_id) WHERE state = 'started' AND is_over = 0;

-- deliveries-2
ALTER TABLE deliveries ADD COLUMN channel TEXT NOT NULL DEFAULT 'webhook';

-- dead-letter-notes-2
ALTER TABLE dead_letter_notes ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;

-- budgets-1
CREATE TABLE budgets (
  id TEXT PRIMARY KEY,
  workflow TEXT,
  tenant_id TEXT,
  per TEXT NOT NULL,
  cost INTEGER,
  tokens INTEGER,
  tries INTEGER,
  duration INTEGER,
  on_exceeded TEXT NOT NULL,
  webhook TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE TABLE budget_shares (
  budget TEXT NOT NULL,
  day TEXT NOT NULL,
  run TEXT NOT NULL,
  cost INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (budget, day, run)
) WITHOUT ROWID;
CREATE INDEX budget_shares_by_run ON budget_shares (run) WHERE run <> '';
CREATE TABLE budget_raises (
  id TEXT NOT NULL,
  budget TEXT NOT NULL,
  day TEXT NOT NULL,
  cost INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  PRIMARY KEY (budget, day, id)
) WITHOUT ROWID;

-- workflow-definitions-2
ALTER TABLE workflow_definitions ADD COLUMN starts_by TEXT;
ALTER TABLE workflow_definitions ADD COLUMN max_cost_micro INTEGER;
UPDATE workflow_definitions AS each SET max_cost_micro = (
  SELECT min(max_cost_micro) FROM api_keys
  WHERE coalesce(tenant_id, '') = each.tenant_id AND (scopes LIKE '%write%' OR scopes LIKE '%admin%')
);
UPDATE workflow_definitions AS each SET max_cost_micro = schedules.max_cost_micro FROM schedules
  WHERE source = 'saved' AND workflow_name = each.name AND coalesce(schedules.tenant_id, '') = each.tenant_id;
CREATE INDEX workflow_definitions_triggered ON workflow_definitions (tenant_id, name)
  WHERE starts_by IN ('http', 'queue', 'event');
CREATE INDEX workflow_definitions_timed ON workflow_definitions (tenant_id, name)
  WHERE starts_by IS NULL OR starts_by = 'cron';

-- api-keys-2
ALTER TABLE api_keys ADD COLUMN tells_context INTEGER;

-- grants-1
ALTER TABLE api_keys ADD COLUMN grant TEXT;
ALTER TABLE workflow_definitions ADD COLUMN grant TEXT;
ALTER TABLE schedules ADD COLUMN grant TEXT;

-- deliveries-3
ALTER TABLE deliveries ADD COLUMN claimed_by TEXT;
ALTER TABLE deliveries ADD COLUMN claimed_until INTEGER NOT NULL DEFAULT 0;
CREATE INDEX deliveries_claimed ON deliveries (claimed_by) WHERE claimed_by IS NOT NULL;

-- budgets-2
ALTER TABLE budget_shares ADD COLUMN holder TEXT NOT NULL DEFAULT '';
CREATE TABLE budget_leases (
  budget TEXT NOT NULL,
  day TEXT NOT NULL,
  holder TEXT NOT NULL,
  cost INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  wanted_as INTEGER NOT NULL,
  PRIMARY KEY (budget, day, holder)
) WITHOUT ROWID;
