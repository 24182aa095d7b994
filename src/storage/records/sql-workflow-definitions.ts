import { writeExact } from "../../core/exact-json.ts";
import type {
  DefinitionKey,
  DefinitionOwner,
  NewDefinition,
  StartsBy,
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

const IS_TRIGGERED = "starts_by IN ('http', 'queue', 'event')";
const IS_TIMED = "starts_by IS NULL OR starts_by = 'cron'";
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
    indexes: {
      workflow_definitions_triggered: `(tenant_id, name) WHERE ${IS_TRIGGERED}`,
      workflow_definitions_timed: `(tenant_id, name) WHERE ${IS_TIMED}`,
    },
  },
);

export class SqlWorkflowDefinitions implements WorkflowDefinitions {
  readonly #database: RecordDatabase;
  readonly #remembered: RememberedReads;

  constructor(database: RecordDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
  }

  async save(definition: NewDefinition): Promise<{ readonly stored: StoredDefinition; readonly isNew: boolean }> {
    const { startsBy = null, maxCostMicro = null, grant: granted = null } = definition;
    // Another process may save the same name meanwhile: inside the transaction the newest version stays the newest.
    return this.#database.transaction(async (sql) => {
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
  }

  async find({
    version,
    ...key
  }: DefinitionKey & { readonly version?: number }): Promise<StoredDefinition | undefined> {
    return this.#remembered.get(writeExact([key.tenantId ?? null, key.name, version]), () =>
      version === undefined
        ? findNewest(this.#database, key)
        : DEFINITIONS.find(this.#database, { ...keyOf(key), version }),
    );
  }

  async list(owner: DefinitionOwner): Promise<readonly StoredDefinition[]> {
    const of = ownerOf(owner);
    const rest = `AND ${IS_NEWEST} ORDER BY name`;
    return this.#remembered.get(writeExact(["all", of.tenantId]), () => DEFINITIONS.list(this.#database, of, rest));
  }

  async listTriggered(owner: DefinitionOwner): Promise<readonly StoredDefinition[]> {
    const rest = `AND ${IS_TRIGGERED} AND ${IS_NEWEST} ORDER BY name`;
    const of = ownerOf(owner);
    return this.#remembered.get(writeExact([of.tenantId]), () => DEFINITIONS.list(this.#database, of, rest));
  }

  async listTimed(): Promise<readonly StoredDefinition[]> {
    return DEFINITIONS.list(this.#database, {}, `WHERE (${IS_TIMED}) AND ${IS_NEWEST} ORDER BY tenant_id, name`);
  }

  async markStart({
    version,
    startsBy,
    ...key
  }: DefinitionKey & { readonly version: number; readonly startsBy: StartsBy }): Promise<void> {
    await DEFINITIONS.update(this.#database, { startsBy }, { ...keyOf(key), version });
  }

  async versions(key: DefinitionKey): Promise<readonly StoredDefinition[]> {
    return DEFINITIONS.list(this.#database, keyOf(key), "ORDER BY version DESC");
  }

  async remove(key: DefinitionKey): Promise<boolean> {
    return (await DEFINITIONS.remove(this.#database, keyOf(key))) > 0;
  }
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
