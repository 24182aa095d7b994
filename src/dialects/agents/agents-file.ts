import type { ProblemPlace } from "../../core/errors/problem.ts";
import type { Place } from "../../core/graph/graph.ts";
import type { Json } from "../../core/json.ts";
import type { Range } from "../source/source-text.ts";

export interface Named {
  readonly name: string;
  /** The place of the name. */
  readonly at: Range;
}

export interface Setting {
  readonly value: Json;
  readonly place: ProblemPlace;
}

type Settings = ReadonlyMap<AgentSettingName, Setting>;

/** Settings of agents and of `llm` components. */
export const MODEL_SETTINGS = ["model", "temperature", "max_tokens", "system_prompt"] as const;

export const AGENT_SETTINGS = [
  ...MODEL_SETTINGS,
  "max_iterations",
  "include_history",
  "max_cost_usd",
  "max_total_tokens",
  "repairs",
  "timeout",
  "allow",
  "approve",
  "exclude",
  "tools",
  "output_schema",
] as const;

/** In the words of what the executor gets. */
export type AgentSettingName = (typeof AGENT_SETTINGS)[number] | "clients";

export interface AgentDefinition extends Named {
  readonly description?: string;
  readonly place: ProblemPlace;
  readonly settings: Settings;
  /** The `llm` component whose settings stand behind the agent's own. */
  readonly modelId?: Named;
  /** The names as written; those that no server has are reported. */
  readonly clients: readonly Named[];
}

/** An `llm` component. */
export interface ModelDefinition extends Named {
  readonly settings: Settings;
}

/** Names an agent or a workflow. */
export interface StepDefinition extends Named {
  /** `any`: whichever of the two has the name. */
  readonly type: "agent" | "workflow" | "any";
  readonly place: Place;
}

export interface NodeDefinition extends StepDefinition {
  readonly id: string;
}

export interface EdgeDefinition {
  readonly from: Named;
  readonly to: Named;
}
