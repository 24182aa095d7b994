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
import { emptyIfAbsent, grant, plain, RecordTable } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";

/** No tenant's id is empty: the application's own definitions are stored under it. */
const APPLICATION = "";

export const DEFINITIONS = new RecordTable<StoredDefinition>("workflow_definitions", {
  tenantId: emptyIfAbsent,
  name: plain,
  version: plain,
  text: plain,
  at: plain,
  startsBy: plain,
  maxCostMicro: plain,
  grant,
});

const OF_NAME = "WHERE tenant_id = ? AND name = ?";
const IS_VERSION = "tenant_id = ? AND name = ? AND version = ?";
const IS_NEWEST = `version = (SELECT max(version) FROM workflow_definitions AS other
  WHERE other.tenant_id = each.tenant_id AND other.name = each.name)`;

export class SqlWorkflowDefinitions implements WorkflowDefinitions {
  readonly #database: RecordDatabase;
  readonly #remembered: RememberedReads;

  constructor(database: RecordDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
  }

  async save(definition: NewDefinition): Promise<{ readonly stored: StoredDefinition; readonly isNew: boolean }> {
    const { name, text, startsBy = null, maxCostMicro = null, grant: granted = null } = definition;
    const owner = ownerOf(definition);
    // Another process may save the same name meanwhile: inside the transaction the newest version stays the newest.
    return this.#database.transaction(async (sql) => {
      const newest = await findNewest(sql, owner, name);
      if (newest !== undefined && newest.text === text) {
        const { version, at } = newest;
        await DEFINITIONS.update(sql, { startsBy, maxCostMicro, grant: granted }, IS_VERSION, owner, name, version);
        return { stored: { ...definition, version, at }, isNew: false };
      }
      const stored = { ...definition, version: (newest?.version ?? 0) + 1 };
      await DEFINITIONS.insert(sql, { ...stored, tenantId: owner });
      return { stored, isNew: true };
    });
  }

  async find({
    version,
    ...key
  }: DefinitionKey & { readonly version?: number }): Promise<StoredDefinition | undefined> {
    const owner = ownerOf(key);
    return this.#remembered.get(writeExact([owner, key.name, version]), () =>
      version === undefined
        ? findNewest(this.#database, owner, key.name)
        : DEFINITIONS.find(this.#database, `WHERE ${IS_VERSION}`, owner, key.name, version),
    );
  }

  async list(owner: DefinitionOwner): Promise<readonly StoredDefinition[]> {
    return DEFINITIONS.list(
      this.#database,
      `AS each WHERE tenant_id = ? AND ${IS_NEWEST} ORDER BY name`,
      ownerOf(owner),
    );
  }

  async listTriggered(owner: DefinitionOwner): Promise<readonly StoredDefinition[]> {
    const id = ownerOf(owner);
    const rest = `AS each WHERE tenant_id = ? AND starts_by IN ('http', 'queue', 'event') AND ${IS_NEWEST} ORDER BY name`;
    return this.#remembered.get(writeExact([id]), () => DEFINITIONS.list(this.#database, rest, id));
  }

  async listTimed(): Promise<readonly StoredDefinition[]> {
    return DEFINITIONS.list(
      this.#database,
      `AS each WHERE (starts_by IS NULL OR starts_by = 'cron') AND ${IS_NEWEST} ORDER BY tenant_id, name`,
    );
  }

  async markStart({
    version,
    startsBy,
    ...key
  }: DefinitionKey & { readonly version: number; readonly startsBy: StartsBy }): Promise<void> {
    await DEFINITIONS.update(this.#database, { startsBy }, IS_VERSION, ownerOf(key), key.name, version);
  }

  async versions(key: DefinitionKey): Promise<readonly StoredDefinition[]> {
    return DEFINITIONS.list(this.#database, `${OF_NAME} ORDER BY version DESC`, ownerOf(key), key.name);
  }

  async remove(key: DefinitionKey): Promise<boolean> {
    return (await this.#database.run(`DELETE FROM workflow_definitions ${OF_NAME}`, ownerOf(key), key.name)) > 0;
  }
}

function findNewest(sql: Sql, owner: string, name: string): Promise<StoredDefinition | undefined> {
  return DEFINITIONS.find(sql, `${OF_NAME} ORDER BY version DESC LIMIT 1`, owner, name);
}

function ownerOf({ tenantId }: DefinitionOwner): string {
  return tenantId ?? APPLICATION;
}
