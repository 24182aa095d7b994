import type { Trigger } from "../../core/graph/graph.ts";
import type { Grant } from "../../core/trust/grant.ts";

/** Definitions that clients have saved, every version of each. They belong to the tenant that saved them, or to the application. */
export interface WorkflowDefinitions {
  /**
   * Makes a new version unless the newest one has this text. The trigger and the cost limit are updated in any case.
   * Durable when it resolves.
   */
  save(definition: NewDefinition): Promise<{ readonly stored: StoredDefinition; readonly isNew: boolean }>;
  /** The newest version if none is named. */
  find(wanted: DefinitionKey & { readonly version?: number }): Promise<StoredDefinition | undefined>;
  /** The newest version of each, by name. */
  list(owner: DefinitionOwner): Promise<readonly StoredDefinition[]>;
  /**
   * Definitions whose newest version is started by routes, queues or events, by name. The same list as long as no process
   * writes, because every request reads it.
   */
  listTriggered(owner: DefinitionOwner): Promise<readonly StoredDefinition[]>;
  /** Definitions of all owners whose newest version is started by the clock, or by something that is not known. */
  listTimed(): Promise<readonly StoredDefinition[]>;
  /** Records what starts a version that an older version of the program has saved. */
  markStart(version: DefinitionKey & { readonly version: number; readonly startsBy: StartsBy }): Promise<void>;
  /** Newest first. */
  versions(wanted: DefinitionKey): Promise<readonly StoredDefinition[]>;
  /** Removes all versions. False if there is none. */
  remove(wanted: DefinitionKey): Promise<boolean>;
}

export interface DefinitionOwner {
  /** Absent: the application itself. */
  readonly tenantId?: string;
}

export interface DefinitionKey extends DefinitionOwner {
  readonly name: string;
}

/** The kind of the triggers that a definition names. */
export type StartsBy = Trigger["kind"] | "several" | "nothing";

interface NewDefinition extends DefinitionKey {
  readonly text: string;
  /** Absent if an older version of the program has saved it and it was not read since. */
  readonly startsBy?: StartsBy;
  /** The most that a triggered run may cost, in integer micro-dollars: at most what the key that saves it may spend. */
  readonly maxCostMicro?: number;
  /** That of the key that saved it. Absent: it was saved before there were grants. */
  readonly grant?: Grant;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface StoredDefinition extends NewDefinition {
  /** From 1. */
  readonly version: number;
}
