import type { Json, JsonObject } from "../core/json.ts";

/** What each step is answered by simulated agents and mock models. The format is described in docs/simulated-agents.md. */
export interface AgentScript {
  /** Milliseconds, for every answer that names no delay. */
  readonly delay_ms?: number | undefined;
  /** By step id (`score`), one instance (`score[3]`, `poll#2`) or whole path (`batch[2]/fetch[7]`). */
  readonly steps: ReadonlyMap<string, ScriptedStep>;
}

/** By attempt, of which the last repeats; or, for a fan-out, by index and then by attempt. */
export interface ScriptedStep {
  readonly attempts: readonly ScriptedTurn[];
  readonly items: readonly (readonly ScriptedTurn[])[];
}

/** One try of a step. An entry without `reply`, `call`, `fail` and `hang` gives a plain answer. */
export interface ScriptedTurn {
  /** A text is what the agent says; anything else is its structured answer. */
  readonly reply?: Json | undefined;
  /** Tools that are called, with or without a word (`say`). Only a model can do that. */
  readonly call?: readonly { readonly name: string; readonly input: JsonObject }[] | undefined;
  readonly say?: string | undefined;
  readonly fail?: string | undefined;
  readonly message?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly effect?: "none" | "unknown" | "done" | undefined;
  /** Silence until the attempt is stopped. */
  readonly hang?: boolean | undefined;
  readonly delay_ms?: number | undefined;
  /** US dollars. `null`: unknown. */
  readonly cost_usd?: number | null | undefined;
  readonly turns?: number | undefined;
  readonly input_tokens?: number | undefined;
  readonly output_tokens?: number | undefined;
}

/** Throws `SCRIPT_INVALID` with every mistake and its place. `file` is for messages. */
export type ReadAgentScript = (text: string, file: string) => Promise<AgentScript>;
