/** Definitions that clients have saved, every version of each. They belong to the tenant that saved them, or to the application. */
export interface WorkflowDefinitions {
  /** A text that is that of the newest version already makes no new one. Durable when it resolves. */
  save(definition: NewDefinition): Promise<{ readonly stored: StoredDefinition; readonly isNew: boolean }>;
  /** The newest version where none is named. */
  find(wanted: DefinitionKey & { readonly version?: number }): Promise<StoredDefinition | undefined>;
  /** The newest version of each, by name. */
  list(owner: DefinitionOwner): Promise<readonly StoredDefinition[]>;
  /** Newest first. */
  versions(wanted: DefinitionKey): Promise<readonly StoredDefinition[]>;
  /** With all its versions. False: there is none. */
  remove(wanted: DefinitionKey): Promise<boolean>;
}

export interface DefinitionOwner {
  /** Absent: the application itself. */
  readonly tenantId?: string;
}

export interface DefinitionKey extends DefinitionOwner {
  readonly name: string;
}

export interface NewDefinition extends DefinitionKey {
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface StoredDefinition extends NewDefinition {
  /** From 1. */
  readonly version: number;
}
