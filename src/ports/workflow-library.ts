import type { JsonObject } from "../core/json.ts";

/** Terminal workflows that have succeeded, kept to be run again by name. Several processes may use one at a time. */
export interface WorkflowLibrary {
  /** By name, in the order in which they were saved. */
  list(): Promise<readonly SavedWorkflow[]>;
  /** Undefined: there is none of this name. Throws `LIBRARY_DAMAGED` where its file cannot be read. */
  load(name: string): Promise<JsonObject | undefined>;
  /**
   * The name under which the definition is saved now, which may have a number; undefined where the same workflow is there
   * already, under whatever name. Nothing that is there is overwritten. Throws `LIBRARY_LOCKED`, `LIBRARY_UNWRITABLE`.
   */
  save(definition: JsonObject, run: { readonly states: number }): Promise<string | undefined>;
  /** Counts another success of a saved workflow. Without effect where there is none of this name. Throws as `save`. */
  noteSuccess(name: string): Promise<void>;
}

export interface SavedWorkflow {
  readonly name: string;
  readonly description: string;
  /** ISO 8601, as it stands in the library. */
  readonly created: string;
  readonly successCount: number;
}
