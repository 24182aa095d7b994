import type { Effect } from "../../../core/history/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";

/**
 * What simulated agents and mock models say, step by step. Written as YAML:
 *
 *     delay_ms: 0                 # for every answer that names none; absent: a plausible one
 *     steps:
 *       scrape:                   # a list: the first try, the second ...; the last entry repeats
 *         - {fail: AGENT_STREAM_CUT, cost_usd: 0.01}
 *         - {reply: {description: "..."}, cost_usd: 0.02, turns: 3}
 *       "enrich[3]": {fail: AGENT_FAILED, retryable: false}
 *       score: {items: [{reply: {score: 90}}, {hang: true}]}    # by index of a fan-out
 *       plan:                     # of an agent whose model is a mock one: its turns
 *         - {call: {name: forecast, input: {city: Paris}}}
 *         - {reply: "Take an umbrella."}
 *       review: {delay_ms: 20}    # no reply: one is made up, as for steps that are not named
 *
 * The whole format is described in docs/simulated-agents.md.
 */
export interface AgentScript {
  readonly delayMs: number | undefined;
  /** By step id (`score`), one instance (`score[3]`, `poll#2`) or whole path (`batch[2]/fetch[7]`). */
  readonly steps: ReadonlyMap<string, ScriptedStep>;
}

export interface ScriptedStep {
  /** By attempt; the last one repeats. Empty: nothing is scripted beside `items`. */
  readonly attempts: readonly ScriptedTurn[];
  /** By index of a fan-out, each again by attempt. */
  readonly items: readonly (readonly ScriptedTurn[])[];
}

/** What happens on one try. */
export interface ScriptedTurn {
  readonly does: ScriptedAct;
  readonly delayMs: number | undefined;
  /** `null`: unknown. Absent: estimated for an answer, nothing for a failure. */
  readonly costMicro: number | null | undefined;
  readonly turns: number | undefined;
  /** Absent: estimated. */
  readonly tokens: { readonly input: number | undefined; readonly output: number | undefined };
}

export type ScriptedAct =
  | { readonly type: "reply"; readonly reply: Json }
  | ScriptedFailure
  /** Tools are called, with or without a word. Only a model can do that. */
  | { readonly type: "call"; readonly calls: readonly ScriptedCall[]; readonly say: string }
  /** Silence until the attempt is stopped. */
  | { readonly type: "hang" }
  | { readonly type: "makeUp" };

interface ScriptedCall {
  readonly name: string;
  readonly input: JsonObject;
}

export interface ScriptedFailure {
  readonly type: "fail";
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly effect: Effect;
}
