import type { Problem, ProblemPlace } from "../core/errors/problem.ts";
import type { Graph, Place } from "../core/graph/graph.ts";
import type { Json } from "../core/json.ts";

/** A workflow as someone wrote it, in any of the four dialects. */
export interface Definition {
  readonly text: string;
  /** Shown with every problem. */
  readonly file?: string;
  /** The folder from which relative paths in it start. Absent: the application's. */
  readonly folder?: string;
}

export interface Compiled {
  /** Absent where a problem is an error, and where the selection is `all`. */
  readonly graph?: Graph;
  /** In the order of their places. */
  readonly problems: readonly Problem[];
  readonly files?: readonly NeededFile[];
  /** The parts of a text that holds several things to run, whichever is selected. Absent where a problem is an error. */
  readonly parts?: readonly DefinitionPart[];
}

/** A workflow of a file of agents, or one of its agents, which can be asked alone. */
export interface DefinitionPart {
  readonly kind: "workflow" | "agent";
  readonly name: string;
  readonly description?: string;
  readonly place: ProblemPlace;
  /** The settings of an agent, as far as the text says them. */
  readonly settings?: readonly PartSetting[];
  toGraph(): Graph;
}

interface PartSetting {
  readonly name: string;
  readonly value: Json;
  readonly place: ProblemPlace;
  /** The component that it is taken from. */
  readonly model?: string;
}

/** Which part of a text is meant; `name`: a workflow, else an agent. `all`: everything is checked, nothing becomes a graph. */
export type Selection = { readonly workflow: string } | { readonly agent: string } | { readonly name: string } | "all";

export type Language = "python" | "javascript" | "typescript";

/** A script or a prompt template in the application's folder, or the file of an MCP server, which is only looked for. */
export interface NeededFile {
  readonly kind: "script" | "prompt" | "server";
  readonly path: string;
  /** The step that names it. */
  readonly at: Place;
  /** It can be done without. */
  readonly isOptional?: boolean;
  /** The function of a script that the step calls. */
  readonly function?: { readonly name: string; readonly language: Language; readonly at: Place };
  /** The names that the step gives to the prompt. */
  readonly names?: readonly string[];
}

/** Defaults for definitions, and facts about their surroundings. */
export interface LoadOptions {
  /** Visits of steps in one pass through a state machine. */
  readonly maxSteps?: number;
  /** Names of environment variables that the configuration lets terminal workflows read. */
  readonly envAllowed?: readonly string[];
  /** Likely misspellings are warnings. Default: errors. */
  readonly isLenient?: boolean;
  /** Agent steps are answered in this process, with no tools but those that they list. */
  readonly hasInlineAgents?: boolean;
  /** Whether reports can be printed as PDF. Absent: nothing is said of it. */
  hasChromium?(): boolean;
  /** The part of a file of agents to run. Absent: its only workflow, or its only agent where it has no workflow. */
  readonly select?: Selection;
  /** Other files of the application's agents, whose parts may be named beside those of the file itself. */
  agentFiles?(): Promise<readonly Definition[]>;
  /** Whether the application has a workflow of this name, in any dialect. Absent: it has none. */
  hasWorkflow?(name: string): Promise<boolean>;
}
