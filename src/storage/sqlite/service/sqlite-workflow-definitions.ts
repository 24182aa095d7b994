import type {
  DefinitionKey,
  DefinitionOwner,
  NewDefinition,
  StartsBy,
  StoredDefinition,
  WorkflowDefinitions,
} from "../../../ports/service/workflow-definitions.ts";
import { emptyIfAbsent, grant, plain, RecordTable } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";
import type { ServiceDatabase } from "./service-database.ts";

/** No tenant's id is empty: the application's own definitions are stored under it. */
const APPLICATION = "";

const OF_NAME = "WHERE tenant_id = ? AND name = ?";
const IS_VERSION = "tenant_id = ? AND name = ? AND version = ?";
const IS_NEWEST = `version = (SELECT max(version) FROM workflow_definitions AS other
  WHERE other.tenant_id = each.tenant_id AND other.name = each.name)`;

export class SqliteWorkflowDefinitions implements WorkflowDefinitions {
  readonly #database: ServiceDatabase;
  readonly #definitions: RecordTable<StoredDefinition>;
  readonly #remembered: RememberedReads;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
    this.#definitions = new RecordTable<StoredDefinition>(database, "workflow_definitions", {
      tenantId: emptyIfAbsent,
      name: plain,
      version: plain,
      text: plain,
      at: plain,
      startsBy: plain,
      maxCostMicro: plain,
      grant,
    });
  }

  async save(definition: NewDefinition): Promise<{ readonly stored: StoredDefinition; readonly isNew: boolean }> {
    const { name, text, startsBy = null, maxCostMicro = null, grant: granted = null } = definition;
    const owner = ownerOf(definition);
    // Another process may save the same name meanwhile: inside the transaction the newest version stays the newest.
    return this.#database.together(() => {
      const newest = this.#newest(owner, name);
      if (newest !== undefined && newest.text === text) {
        const { version, at } = newest;
        this.#definitions.update({ startsBy, maxCostMicro, grant: granted }, IS_VERSION, owner, name, version);
        return { stored: { ...definition, version, at }, isNew: false };
      }
      const stored = { ...definition, version: (newest?.version ?? 0) + 1 };
      this.#definitions.insert({ ...stored, tenantId: owner });
      return { stored, isNew: true };
    });
  }

  async find({
    version,
    ...key
  }: DefinitionKey & { readonly version?: number }): Promise<StoredDefinition | undefined> {
    const owner = ownerOf(key);
    return this.#remembered.get(JSON.stringify([owner, key.name, version]), () =>
      version === undefined
        ? this.#newest(owner, key.name)
        : this.#definitions.find(`WHERE ${IS_VERSION}`, owner, key.name, version),
    );
  }

  async list(owner: DefinitionOwner): Promise<readonly StoredDefinition[]> {
    return this.#definitions.list(`AS each WHERE tenant_id = ? AND ${IS_NEWEST} ORDER BY name`, ownerOf(owner));
  }

  async listTriggered(owner: DefinitionOwner): Promise<readonly StoredDefinition[]> {
    const id = ownerOf(owner);
    const rest = `AS each WHERE tenant_id = ? AND starts_by IN ('http', 'queue', 'event') AND ${IS_NEWEST} ORDER BY name`;
    return this.#remembered.get(JSON.stringify([id]), () => this.#definitions.list(rest, id));
  }

  async listTimed(): Promise<readonly StoredDefinition[]> {
    return this.#definitions.list(
      `AS each WHERE (starts_by IS NULL OR starts_by = 'cron') AND ${IS_NEWEST} ORDER BY tenant_id, name`,
    );
  }

  async markStart({
    version,
    startsBy,
    ...key
  }: DefinitionKey & { readonly version: number; readonly startsBy: StartsBy }): Promise<void> {
    this.#definitions.update({ startsBy }, IS_VERSION, ownerOf(key), key.name, version);
  }

  async versions(key: DefinitionKey): Promise<readonly StoredDefinition[]> {
    return this.#definitions.list(`${OF_NAME} ORDER BY version DESC`, ownerOf(key), key.name);
  }

  async remove(key: DefinitionKey): Promise<boolean> {
    return this.#database.run(`DELETE FROM workflow_definitions ${OF_NAME}`, ownerOf(key), key.name) > 0;
  }

  #newest(owner: string, name: string): StoredDefinition | undefined {
    return this.#definitions.find(`${OF_NAME} ORDER BY version DESC LIMIT 1`, owner, name);
  }
}

function ownerOf({ tenantId }: DefinitionOwner): string {
  return tenantId ?? APPLICATION;
}
