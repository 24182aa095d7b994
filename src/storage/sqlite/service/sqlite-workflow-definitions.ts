import type {
  DefinitionKey,
  DefinitionOwner,
  NewDefinition,
  StartsBy,
  StoredDefinition,
  WorkflowDefinitions,
} from "../../../ports/workflow-definitions.ts";
import { prepareQuery, type Query } from "../statement.ts";
import { RememberedReads } from "./remembered-reads.ts";
import type { ServiceDatabase, ServiceStatement } from "./service-database.ts";

interface DefinitionRow {
  readonly tenant_id: string;
  readonly name: string;
  readonly version: number;
  readonly text: string;
  readonly at: number;
  readonly starts_by: StartsBy | null;
  readonly max_cost_micro: number | null;
}

/** No tenant's id is empty: the application's own definitions are kept under it. */
const APPLICATION = "";

export class SqliteWorkflowDefinitions implements WorkflowDefinitions {
  readonly #database: ServiceDatabase;
  readonly #versions: Query<DefinitionRow>;
  readonly #version: Query<DefinitionRow>;
  readonly #newest: Query<DefinitionRow>;
  readonly #all: Query<DefinitionRow>;
  readonly #triggered: Query<DefinitionRow>;
  readonly #timed: Query<DefinitionRow>;
  readonly #insert: ServiceStatement;
  readonly #update: ServiceStatement;
  readonly #mark: ServiceStatement;
  readonly #remembered: RememberedReads;

  constructor(database: ServiceDatabase) {
    const ofName = "SELECT * FROM workflow_definitions WHERE tenant_id = ? AND name = ?";
    this.#database = database;
    this.#remembered = new RememberedReads(database);
    this.#insert = database.prepare(
      `INSERT INTO workflow_definitions (tenant_id, name, version, text, at, starts_by, max_cost_micro)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    const edit = (set: string) =>
      database.prepare(`UPDATE workflow_definitions SET ${set} WHERE tenant_id = ? AND name = ? AND version = ?`);
    this.#update = edit("starts_by = ?, max_cost_micro = ?");
    this.#mark = edit("starts_by = ?");
    this.#versions = prepareQuery(database, `${ofName} ORDER BY version DESC`);
    this.#newest = prepareQuery(database, `${ofName} ORDER BY version DESC LIMIT 1`);
    this.#version = prepareQuery(database, `${ofName} AND version = ?`);
    this.#all = prepareQuery(
      database,
      `SELECT tenant_id, name, max(version) AS version, text, at, starts_by, max_cost_micro FROM workflow_definitions
       WHERE tenant_id = ? GROUP BY name ORDER BY name`,
    );
    const isNewest = `version = (SELECT max(version) FROM workflow_definitions AS other
       WHERE other.tenant_id = each.tenant_id AND other.name = each.name)`;
    this.#triggered = prepareQuery(
      database,
      `SELECT * FROM workflow_definitions AS each
       WHERE tenant_id = ? AND starts_by IN ('http', 'queue', 'event') AND ${isNewest} ORDER BY name`,
    );
    this.#timed = prepareQuery(
      database,
      `SELECT * FROM workflow_definitions AS each WHERE (starts_by IS NULL OR starts_by = 'cron') AND ${isNewest}
       ORDER BY tenant_id, name`,
    );
  }

  async save(definition: NewDefinition): Promise<{ readonly stored: StoredDefinition; readonly isNew: boolean }> {
    const { name, text, at, startsBy = null, maxCostMicro = null } = definition;
    this.#remembered.forget();
    // Another process may save the same name meanwhile: what is read here still holds when it is written.
    return this.#database.together(() => {
      const newest = this.#newest.get(ownerOf(definition), name);
      const isNew = newest === undefined || newest.text !== text;
      const version = (newest?.version ?? 0) + 1;
      const key = [ownerOf(definition), name] as const;
      if (isNew) this.#insert.run(...key, version, text, at, startsBy, maxCostMicro);
      else this.#update.run(startsBy, maxCostMicro, ...key, version - 1);
      const stored = isNew ? { ...definition, version } : { ...definition, version: version - 1, at: newest.at };
      return { stored, isNew };
    });
  }

  async find({
    version,
    ...key
  }: DefinitionKey & { readonly version?: number }): Promise<StoredDefinition | undefined> {
    const owner = ownerOf(key);
    return this.#remembered.get(JSON.stringify([owner, key.name, version]), () => {
      const row =
        version === undefined ? this.#newest.get(owner, key.name) : this.#version.get(owner, key.name, version);
      return row === undefined ? undefined : toDefinition(row);
    });
  }

  async list(owner: DefinitionOwner): Promise<readonly StoredDefinition[]> {
    return this.#all.all(ownerOf(owner)).map(toDefinition);
  }

  async listTriggered(owner: DefinitionOwner): Promise<readonly StoredDefinition[]> {
    const id = ownerOf(owner);
    return this.#remembered.get(JSON.stringify([id]), () => this.#triggered.all(id).map(toDefinition));
  }

  async listTimed(): Promise<readonly StoredDefinition[]> {
    return this.#timed.all().map(toDefinition);
  }

  async markStart({
    version,
    startsBy,
    ...key
  }: DefinitionKey & { readonly version: number; readonly startsBy: StartsBy }): Promise<void> {
    this.#remembered.forget();
    this.#mark.run(startsBy, ownerOf(key), key.name, version);
  }

  async versions(key: DefinitionKey): Promise<readonly StoredDefinition[]> {
    return this.#versions.all(ownerOf(key), key.name).map(toDefinition);
  }

  async remove(key: DefinitionKey): Promise<boolean> {
    const remove = this.#database.prepare("DELETE FROM workflow_definitions WHERE tenant_id = ? AND name = ?");
    this.#remembered.forget();
    return remove.run(ownerOf(key), key.name).changes > 0;
  }
}

function ownerOf({ tenantId }: DefinitionOwner): string {
  return tenantId ?? APPLICATION;
}

function toDefinition(row: DefinitionRow): StoredDefinition {
  const { tenant_id: tenantId, name, version, text, at, starts_by: startsBy, max_cost_micro: maxCostMicro } = row;
  return {
    ...(tenantId === APPLICATION ? {} : { tenantId }),
    name,
    version,
    text,
    at,
    ...(startsBy === null ? {} : { startsBy }),
    ...(maxCostMicro === null ? {} : { maxCostMicro }),
  };
}
