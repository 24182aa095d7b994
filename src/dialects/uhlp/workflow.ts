import type { RetryPolicy, RunLimits, Trigger } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Text } from "../shape/shape.ts";
import type { Range } from "../source/source-text.ts";
import type { YamlMap, YamlNode, YamlScalar } from "../source/yaml-node.ts";

/** A UHLP file after reading. Expressions are still nodes: what they may name depends on where their step runs. */
export interface Workflow {
  readonly id: string;
  readonly description?: string;
  readonly trigger?: Trigger;
  readonly level: Level;
  readonly maxSteps?: number;
  readonly limits: RunLimits;
  readonly inputSchema?: JsonObject;
  readonly deadLetter: boolean;
}

/** The id of a step, where it is named. */
export interface Reference {
  readonly value: string;
  readonly at: Range;
}

/** Steps that may lead to each other: those of the workflow, or of a block that is written in place. */
export interface Level {
  readonly startAt: Reference | undefined;
  readonly steps: ReadonlyMap<string, StepDefinition>;
}

export interface StepDefinition {
  readonly id: string;
  /** Where the id stands. */
  readonly at: Range;
  readonly map: YamlMap;
  readonly description?: string;
  readonly body: StepBody;
  readonly transitions: readonly TransitionDefinition[];
  /** Part of it has the wrong structure: what is not there may only be unreadable. */
  readonly isFaulty: boolean;
  readonly retry?: RetryPolicy;
  readonly timeoutMs?: number;
  readonly atMostOnce: boolean;
  readonly maxCostMicro?: number;
  readonly output?: YamlNode;
}

export interface TransitionDefinition {
  readonly on: "success" | "failure" | "any";
  readonly condition?: YamlScalar;
  readonly to: Reference | "end";
  readonly at: Range;
}

/** What runs inside a control step: steps of the same level from `start` on, or steps of a level of its own. */
export type Block =
  | { readonly kind: "reference"; readonly start: Reference }
  | { readonly kind: "written"; readonly level: Level; readonly at: Range };

/** What a step gets: `mapping` wins over `params`. */
export interface Inputs {
  readonly params: YamlMap | undefined;
  readonly mapping: YamlMap | undefined;
}

export type StepBody = WorkBody | ControlBody;

/** What is done outside. */
export type WorkBody = CodeBody | ModelBody | ToolBody;

/** What works on the flow itself. */
export type ControlBody =
  | ResponseBody
  | LoopBody
  | ParallelBody
  /** Its branches are its transitions. */
  | { readonly type: "branch" }
  | SplitBody
  | MergeBody
  | { readonly type: "wait"; readonly wait: WaitBody }
  | CallBody
  | TryBody
  /** What it is has been reported. */
  | { readonly type: "unreadable" };

export interface CodeBody {
  readonly type: "jit";
  readonly script: Text;
  readonly language: "python" | "javascript" | "typescript";
  readonly function?: string;
  readonly network?: boolean;
  readonly limits?: JsonObject;
  readonly input: Inputs;
}

export interface ModelBody {
  readonly type: "llm";
  readonly prompt?: string;
  readonly promptTemplate?: Text;
  /** `model`, `parameters`, `outputFormat`, `outputSchema`. */
  readonly options: JsonObject;
  readonly input: Inputs;
}

export interface ToolBody {
  readonly type: "mcp";
  readonly tool: string;
  readonly server?: string;
  readonly input: Inputs;
}

export interface ResponseBody {
  readonly type: "respond";
  readonly resultType: string;
  readonly data: YamlNode | undefined;
}

export interface LoopBody {
  readonly type: "loop";
  readonly list: YamlNode;
  readonly body: Block;
  readonly itemName: string;
  readonly indexName: string;
  readonly maxConcurrent: number;
  readonly continueOnError: boolean;
}

export interface ParallelBody {
  readonly type: "parallel";
  readonly branches: readonly NamedBlock[];
  readonly continueOnError: boolean;
}

export interface NamedBlock {
  readonly name: string;
  readonly at: Range;
  readonly block: Block;
}

export interface SplitBody {
  readonly type: "split";
  readonly list: YamlNode;
  readonly itemName: string;
  readonly routes: readonly Route[];
  /** The route of the items for which no condition holds. */
  readonly rest?: string;
  readonly maxConcurrent: number;
  readonly continueOnError: boolean;
}

export interface Route {
  readonly name: string;
  /** Absent: every item that is left at its place in the order. */
  readonly condition?: YamlScalar;
  readonly body?: Block;
}

export interface MergeBody {
  readonly type: "merge";
  readonly strategy: "append" | "object" | "byKey";
  readonly sources: readonly YamlNode[];
  /** Of a map of sources. */
  readonly names?: readonly string[];
  readonly key: string;
}

export type WaitBody =
  | { readonly for: "duration"; readonly duration: YamlScalar }
  | { readonly for: "instant"; readonly until: Text }
  | { readonly for: "event"; readonly name: Text; readonly timeoutMs?: number };

interface CallBody {
  readonly type: "call";
  readonly workflow: Text;
  readonly input: Inputs;
}

export interface TryBody {
  readonly type: "try";
  readonly body: Block;
  readonly catch?: Block;
  readonly finally?: Block;
}
