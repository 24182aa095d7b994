import type { ProblemPlace } from "../../core/errors/problem.ts";
import type { Place } from "../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Range } from "../source/source-text.ts";

/** What a file of agents says, whichever of its shapes it has; nothing yet checked across its parts. */
export interface AgentsFile {
  /** Where to point when the file as a whole is meant. */
  readonly at: Range;
  readonly agents: readonly AgentDefinition[];
  readonly models: readonly ModelDefinition[];
  /** Undefined: the file says nothing of servers, so its agents use those of the application. */
  readonly servers: readonly ServerDefinition[] | undefined;
  readonly workflows: readonly WorkflowDefinition[];
  readonly customWorkflows: readonly CustomWorkflow[];
}

export interface Named {
  readonly name: string;
  /** Where the name stands. */
  readonly at: Range;
}

/** One setting of an agent, with where it is written. */
export interface Setting {
  readonly value: Json;
  readonly place: ProblemPlace;
}

type Settings = ReadonlyMap<AgentSettingName, Setting>;

/** In the words of what the executor gets. */
export type AgentSettingName =
  | "system_prompt"
  | "model"
  | "temperature"
  | "max_tokens"
  | "max_iterations"
  | "include_history"
  | "clients"
  | "tools"
  | "allow"
  | "approve"
  | "exclude"
  | "output_schema"
  | "max_cost_usd"
  | "max_total_tokens"
  | "repairs"
  | "timeout";

export interface AgentDefinition extends Named {
  readonly description?: string;
  readonly place: ProblemPlace;
  readonly settings: Settings;
  /** The `llm` component whose settings stand behind the agent's own. */
  readonly modelId?: Named;
  /** As written; names that no server has are reported. */
  readonly clients: readonly Named[];
}

/** An `llm` component. */
export interface ModelDefinition extends Named {
  readonly settings: Settings;
}

export interface ServerDefinition extends Named {
  /** What the host gets. `${NAME}` is unresolved. */
  readonly settings: JsonObject;
}

export interface CustomWorkflow extends Named {
  /** The module and the class, as far as they are named. */
  readonly python: string;
}

interface WorkflowCommon extends Named {
  readonly description?: string;
  readonly place: ProblemPlace;
  readonly maxCostMicro?: number;
  readonly timeoutMs?: number;
}

export type WorkflowDefinition = LinearWorkflow | GraphWorkflow;

interface LinearWorkflow extends WorkflowCommon {
  readonly kind: "linear";
  readonly steps: readonly StepDefinition[];
}

export interface GraphWorkflow extends WorkflowCommon {
  readonly kind: "graph";
  readonly nodes: readonly NodeDefinition[];
  readonly edges: readonly EdgeDefinition[];
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
