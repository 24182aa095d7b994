import type { JsonObject } from "../../core/json.ts";

/** Terminal workflows that have succeeded, saved to be run again by name. Several processes may use one at a time. */
export interface WorkflowLibrary {
  /** By name, in the order in which they were saved. */
  list(): Promise<readonly SavedWorkflow[]>;
  /** Undefined if there is none of this name. Throws `LIBRARY_DAMAGED` if its file cannot be read. */
  load(name: string): Promise<JsonObject | undefined>;
  /** Saves a definition and returns its name, perhaps with a number. Undefined: it is saved already. Throws `LIBRARY_LOCKED`, `LIBRARY_UNWRITABLE`. */
  save(definition: JsonObject, run: { readonly states: number }): Promise<string | undefined>;
  /** Counts another success of a saved workflow, if there is one of this name. Throws like `save`. */
  noteSuccess(name: string): Promise<void>;
}

export interface SavedWorkflow {
  readonly name: string;
  readonly description: string;
  /** ISO 8601, as the library has it. */
  readonly created: string;
  readonly successCount: number;
}

export interface LibraryEditor {
  /** False if there is none of this name. A damaged file is removed too. Throws `LIBRARY_LOCKED`, `LIBRARY_UNWRITABLE`. */
  remove(name: string): Promise<boolean>;
  /** False if there is none of the first name. Throws `LIBRARY_NAME_REFUSED`, `LIBRARY_DAMAGED`, and like `remove`. */
  rename(name: string, to: string): Promise<boolean>;
}
