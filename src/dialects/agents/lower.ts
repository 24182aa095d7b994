import type { Graph, Place } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { AgentDefinition } from "./agents-file.ts";
import { type LowerContext, lowerLoneAgent, lowerWorkflow } from "./lower-workflow.ts";
import type { AgentsFile, WorkflowDefinition } from "./parse.ts";

/** The graph of one workflow of a file. `part` says which it is, so that another process can compile the same. */
export function toWorkflowGraph(workflow: WorkflowDefinition, file: AgentsFile, context: LowerContext): Graph {
  const { name, description, maxCostMicro, timeoutMs } = workflow;
  return {
    ...toFrame(name, description),
    flow: lowerWorkflow(workflow, context),
    limits: { maxCostMicro, timeoutMs },
    settings: {
      ...toSettings(file),
      part: { workflow: name },
      // A sequence is what everybody means who says nothing.
      ...(workflow.kind === "graph" ? { workflow_kind: "graph" } : {}),
    },
  };
}

/** The graph of one agent that is asked alone. Its output is what the agent's executor gives. */
export function toAgentGraph(agent: AgentDefinition, file: AgentsFile, context: LowerContext): Graph {
  const { line, column } = agent.place;
  const place: Place = { line, column };
  return {
    ...toFrame(agent.name, agent.description),
    flow: lowerLoneAgent(agent, context, place),
    limits: {},
    settings: { ...toSettings(file), part: { agent: agent.name } },
  };
}

function toFrame(name: string, description: string | undefined) {
  return {
    format: 1,
    dialect: "agents",
    name,
    description,
    input: { schema: INPUT_SCHEMA, declared: ["message", "session_id"], defaults: {} },
    ending: { deadLetter: false },
    envAllowed: [],
  } as const;
}

const INPUT_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    message: { type: "string", description: "What the first agent is asked." },
    session_id: { type: "string", description: "The conversation that agents with `include_history` go on with." },
  },
  required: ["message"],
};

function toSettings({ servers }: AgentsFile): JsonObject {
  if (servers === undefined) return {};
  return { mcp_servers: Object.fromEntries(servers.map(({ name, settings }) => [name, settings])) };
}
