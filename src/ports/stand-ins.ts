import type { Json } from "../core/json.ts";
import type { AgentScript, ScriptedStep } from "./agent-script.ts";
import type { Task } from "./executor.ts";

/** What a test of a workflow has in the place of work outside. */
export interface StandIns {
  /** By step, of whatever kind. */
  readonly script: AgentScript;
  /** By kind of work, for steps that the script does not name. */
  readonly kinds: ReadonlyMap<string, ScriptedStep>;
  /** Kinds of work that are done. What is neither done nor scripted fails. */
  readonly real: ReadonlySet<string>;
  /** Is told of every attempt. */
  called(call: StandInCall): void;
}

export interface StandInCall extends Pick<Task, "path" | "stepId" | "attempt"> {
  readonly kind: string;
  readonly input: Json;
}
