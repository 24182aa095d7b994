import { agentScript, rules as scriptRules } from "./agent-script/agent-script.ts";
import { rules as testRules, workflowTests } from "./agent-script/workflow-tests.ts";
import { agentsFile } from "./agents/shape/file-shape.ts";
import { rules as agentsRules } from "./agents/shape/parts.ts";
import { rules as sandcastleRules, workflow as sandcastleWorkflow } from "./sandcastle/shape/workflow-shape.ts";
import type { DialectRules, Shape } from "./shape/shape.ts";
import { rules as terminalRules, workflow as terminalWorkflow } from "./terminal/workflow-shape.ts";
import { promptFile, promptRules } from "./uhlp/prompts/prompt-shape.ts";
import { rules as uhlpRules } from "./uhlp/shape/texts.ts";
import { workflow as uhlpWorkflow } from "./uhlp/shape/workflow-shape.ts";

/** A kind of file whose shape is published: as a JSON Schema for editors, and as tables of keys in the docs. */
export interface PublishedShape {
  /** In `schemas/`. */
  readonly file: string;
  /** The page with the tables. */
  readonly page: string;
  readonly title: string;
  readonly description: string;
  readonly shape: Shape<unknown>;
  readonly rules: DialectRules;
}

export const PUBLISHED: readonly PublishedShape[] = [
  {
    file: "sandcastle-workflow.schema.json",
    page: "sandcastle.md",
    title: "Sandcastle workflow",
    description: "Steps of agents, people and other workflows, which depend on each other.",
    shape: sandcastleWorkflow,
    rules: sandcastleRules,
  },
  {
    file: "agents-file.schema.json",
    page: "agents.md",
    title: "File of agents",
    description: "MCP servers, agents that use their tools, and sequences of agents.",
    shape: agentsFile,
    rules: agentsRules,
  },
  {
    file: "uhlp-workflow.schema.json",
    page: "uhlp.md",
    title: "UHLP workflow",
    description: "A state machine of code, model, tool and control steps.",
    shape: uhlpWorkflow,
    rules: uhlpRules,
  },
  {
    file: "uhlp-prompt.schema.json",
    page: "uhlp.md",
    title: "UHLP prompt file",
    description: "What to ask a model, and how its answer must look.",
    shape: promptFile,
    rules: promptRules,
  },
  {
    file: "terminal-workflow.schema.json",
    page: "terminal-workflows.md",
    title: "Terminal workflow",
    description: "States that call terminal tools, and transitions between them.",
    shape: terminalWorkflow,
    rules: terminalRules,
  },
  {
    file: "agent-script.schema.json",
    page: "simulated-agents.md",
    title: "Script of simulated agents",
    description: "What simulated agents and mock models answer, step by step.",
    shape: agentScript,
    rules: scriptRules,
  },
  {
    file: "workflow-tests.schema.json",
    page: "testing.md",
    title: "Tests of a workflow",
    description: "Cases: what comes in, what steps and people answer, and what must hold.",
    shape: workflowTests,
    rules: testRules,
  },
];
