import type { JsonObject } from "../../core/json.ts";

/** For whom a model is asked and for what. A real model does not read it; a mock one goes by it. */
export interface AskedStep {
  readonly stepId: string;
  readonly path: string;
  /** Of an agent: its name, by which a script may know it too. */
  readonly agent?: string | undefined;
  /** Counts how often the step has asked, from 1: tries, and further turns of a try. Of an agent: its turns, and tries of a turn. */
  readonly attempt: number;
  readonly format: "json" | "text" | "xml" | "yaml";
  readonly schema?: JsonObject | undefined;
}
