import type { DatabaseSync } from "node:sqlite";
import type {
  DefinitionKey,
  DefinitionOwner,
  NewDefinition,
  StoredDefinition,
  WorkflowDefinitions,
} from "../../../ports/workflow-definitions.ts";
import { prepareQuery, type Query } from "../statement.ts";
import { RememberedReads } from "./remembered-reads.ts";

interface DefinitionRow {
  readonly tenant_id: string;
  readonly name: string;
  readonly version: number;
  readonly text: string;
  readonly at: number;
}

/** No tenant's id is empty: the application's own definitions are kept under it. */
const APPLICATION = "";

export class SqliteWorkflowDefinitions implements WorkflowDefinitions {
  readonly #database: DatabaseSync;
  readonly #versions: Query<DefinitionRow>;
  readonly #version: Query<DefinitionRow>;
  readonly #newest: Query<DefinitionRow>;
  readonly #all: Query<DefinitionRow>;
  readonly #remembered: RememberedReads;

  constructor(database: DatabaseSync) {
    const ofName = "SELECT * FROM workflow_definitions WHERE tenant_id = ? AND name = ?";
    this.#database = database;
    this.#remembered = new RememberedReads(database);
    this.#versions = prepareQuery(database, `${ofName} ORDER BY version DESC`);
    this.#newest = prepareQuery(database, `${ofName} ORDER BY version DESC LIMIT 1`);
    this.#version = prepareQuery(database, `${ofName} AND version = ?`);
    this.#all = prepareQuery(
      database,
      `SELECT tenant_id, name, max(version) AS version, text, at FROM workflow_definitions
       WHERE tenant_id = ? GROUP BY name ORDER BY name`,
    );
  }

  async save(definition: NewDefinition): Promise<{ readonly stored: StoredDefinition; readonly isNew: boolean }> {
    const { name, text, at } = definition;
    this.#remembered.forget();
    // Another process may save the same name meanwhile: what is read here still holds when it is written.
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const newest = this.#newest.get(ownerOf(definition), name);
      const isNew = newest?.text !== text;
      const version = (newest?.version ?? 0) + 1;
      const insert = this.#database.prepare("INSERT INTO workflow_definitions VALUES (?, ?, ?, ?, ?)");
      if (isNew) insert.run(ownerOf(definition), name, version, text, at);
      this.#database.exec("COMMIT");
      return { stored: newest === undefined || isNew ? { ...definition, version } : toDefinition(newest), isNew };
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
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

function toDefinition({ tenant_id: tenantId, name, version, text, at }: DefinitionRow): StoredDefinition {
  return { ...(tenantId === APPLICATION ? {} : { tenantId }), name, version, text, at };
}
