import type { Trigger } from "../core/graph/graph.ts";

/** Definitions that clients have saved, every version of each. They belong to the tenant that saved them, or to the application. */
export interface WorkflowDefinitions {
  /**
   * A text that is that of the newest version already makes no new one, but what starts it and what it may cost are as they
   * are said now. Durable when it resolves.
   */
  save(definition: NewDefinition): Promise<{ readonly stored: StoredDefinition; readonly isNew: boolean }>;
  /** The newest version where none is named. */
  find(wanted: DefinitionKey & { readonly version?: number }): Promise<StoredDefinition | undefined>;
  /** The newest version of each, by name. */
  list(owner: DefinitionOwner): Promise<readonly StoredDefinition[]>;
  /**
   * Those whose newest version routes, queues or events start, by name: the same list as long as nobody writes. Asked for with
   * every request.
   */
  listTriggered(owner: DefinitionOwner): Promise<readonly StoredDefinition[]>;
  /** Of all owners those whose newest version the clock starts, or of which nobody knows what does. */
  listTimed(): Promise<readonly StoredDefinition[]>;
  /** What starts a version that an older version of the program has saved. */
  markStart(version: DefinitionKey & { readonly version: number; readonly startsBy: StartsBy }): Promise<void>;
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

/** What starts runs of a definition by itself, as its text says. */
export type StartsBy = Trigger["kind"] | "nothing";

export interface NewDefinition extends DefinitionKey {
  readonly text: string;
  /** Absent: an older version of the program has saved it, and nobody has looked since. */
  readonly startsBy?: StartsBy;
  /** What a run may cost that nobody asks for, in integer micro-dollars: no more than whoever saves it may spend. */
  readonly maxCostMicro?: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface StoredDefinition extends NewDefinition {
  /** From 1. */
  readonly version: number;
}
