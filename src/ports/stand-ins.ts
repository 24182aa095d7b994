import type { Event } from "../core/history/events.ts";
import type { Json } from "../core/json.ts";
import type { AgentScript, ScriptedStep } from "./agent-script.ts";
import type { Task } from "./executor.ts";
import type { RunNo } from "./journal.ts";

/** What a test of a workflow has in the place of work outside. */
export interface StandIns {
  /** By step, of whatever kind. */
  readonly script: AgentScript;
  /** By kind of work, for steps that the script does not name. */
  readonly kinds: ReadonlyMap<string, ScriptedStep>;
  /** Kinds of work that are done. What is neither done nor scripted fails. */
  readonly real: ReadonlySet<string>;
  called(call: StandInCall): void;
  /** Is told of every place between two events at which the process could die. Every event is then a commit of its own. */
  readonly between?: ((place: BetweenEvents) => void) | undefined;
}

export interface BetweenEvents {
  readonly run: RunNo;
  /** The last event that is on record, and its number. */
  readonly event: Event;
  readonly seq: number;
  readonly at: number;
}

export interface StandInCall extends Pick<Task, "path" | "stepId" | "attempt"> {
  readonly kind: string;
  readonly input: Json;
}
