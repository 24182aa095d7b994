import { writeExact } from "../../core/exact-json.ts";
import type {
  DefinitionKey,
  DefinitionOwner,
  StoredDefinition,
  WorkflowDefinitions,
} from "../../ports/service/workflow-definitions.ts";
import type { Sql } from "../sql/sql-database.ts";
import type { RecordDatabase } from "./record-database.ts";
import { emptyIfAbsent, grant, integer, optional, RecordTable, text } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";

/** Only schedules stored which key had saved a version. Other versions count as saved by the key that may spend least. */
const FILL_LIMITS = [
  `UPDATE workflow_definitions AS each SET max_cost_micro = (
    SELECT min(max_cost_micro) FROM api_keys
    WHERE coalesce(tenant_id, '') = each.tenant_id AND (scopes LIKE '%write%' OR scopes LIKE '%admin%')
  )`,
  `UPDATE workflow_definitions AS each SET max_cost_micro = schedules.max_cost_micro FROM schedules
    WHERE source = 'saved' AND workflow_name = each.name AND coalesce(schedules.tenant_id, '') = each.tenant_id`,
];

const IS_TRIGGERED = "starts_by IN ('http', 'queue', 'event', 'several')";
const IS_TIMED = "starts_by IS NULL OR starts_by IN ('cron', 'several')";
const IS_NEWEST = `version = (SELECT max(version) FROM workflow_definitions AS other
  WHERE other.tenant_id = workflow_definitions.tenant_id AND other.name = workflow_definitions.name)`;

/** The application's own definitions are stored under an empty id, which no tenant has. */
export const DEFINITIONS = new RecordTable<StoredDefinition>(
  "workflow_definitions",
  {
    tenantId: emptyIfAbsent,
    name: text,
    version: integer,
    text,
    at: integer,
    startsBy: optional(text),
    maxCostMicro: { ...optional(integer), fill: FILL_LIMITS },
    grant: optional(grant),
  },
  {
    key: ["tenantId", "name", "version"],
    // As databases have them. What `several` starts is found by the key.
    indexes: {
      workflow_definitions_triggered: `(tenant_id, name) WHERE starts_by IN ('http', 'queue', 'event')`,
      workflow_definitions_timed: `(tenant_id, name) WHERE starts_by IS NULL OR starts_by = 'cron'`,
    },
  },
);

export function openWorkflowDefinitions(database: RecordDatabase): WorkflowDefinitions {
  const remembered = new RememberedReads(database);
  return {
    async save(definition) {
      const { startsBy = null, maxCostMicro = null, grant: granted = null } = definition;
      // Another process may save the same name meanwhile: inside the transaction the newest version stays the newest.
      return database.transaction(async (sql) => {
        const newest = await findNewest(sql, definition);
        if (newest !== undefined && newest.text === definition.text) {
          const { version, at } = newest;
          await DEFINITIONS.update(sql, { startsBy, maxCostMicro, grant: granted }, { ...keyOf(definition), version });
          return { stored: { ...definition, version, at }, isNew: false };
        }
        const stored = { ...definition, version: (newest?.version ?? 0) + 1 };
        await DEFINITIONS.insert(sql, stored);
        return { stored, isNew: true };
      });
    },
    find: ({ version, ...key }) =>
      remembered.get(writeExact([key.tenantId ?? null, key.name, version]), () =>
        version === undefined ? findNewest(database, key) : DEFINITIONS.find(database, { ...keyOf(key), version }),
      ),
    async list(owner) {
      const of = ownerOf(owner);
      const rest = `AND ${IS_NEWEST} ORDER BY name`;
      return remembered.get(writeExact(["all", of.tenantId]), () => DEFINITIONS.list(database, of, rest));
    },
    async listTriggered(owner) {
      const rest = `AND ${IS_TRIGGERED} AND ${IS_NEWEST} ORDER BY name`;
      const of = ownerOf(owner);
      return remembered.get(writeExact([of.tenantId]), () => DEFINITIONS.list(database, of, rest));
    },
    listTimed: () => DEFINITIONS.list(database, {}, `WHERE (${IS_TIMED}) AND ${IS_NEWEST} ORDER BY tenant_id, name`),
    markStart: async ({ version, startsBy, ...key }) =>
      void (await DEFINITIONS.update(database, { startsBy }, { ...keyOf(key), version })),
    versions: (key) => DEFINITIONS.list(database, keyOf(key), "ORDER BY version DESC"),
    remove: async (key) => (await DEFINITIONS.remove(database, keyOf(key))) > 0,
  };
}

function findNewest(sql: Sql, key: DefinitionKey): Promise<StoredDefinition | undefined> {
  return DEFINITIONS.find(sql, keyOf(key), "ORDER BY version DESC LIMIT 1");
}

function keyOf({ name, ...owner }: DefinitionKey) {
  return { ...ownerOf(owner), name };
}

function ownerOf({ tenantId }: DefinitionOwner) {
  return { tenantId: tenantId ?? null };
}
