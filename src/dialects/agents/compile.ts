import type { Graph, Place } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Compiled, Definition, DefinitionPart, LoadOptions, NeededFile, Selection } from "../definition.ts";
import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { checkLater } from "../shape/check-later.ts";
import { Reader } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import type { YamlNode } from "../source/yaml-node.ts";
import type { AgentDefinition } from "./agents-file.ts";
import { checkAgentsFile } from "./check.ts";
import { checkNesting } from "./check-nesting.ts";
import { effectiveSettings, type LowerContext, lowerLoneAgent, lowerWorkflow } from "./lower-workflow.ts";
import { readNeighbours } from "./neighbours.ts";
import { type AgentsFile, parseAgentsFile, type WorkflowDefinition } from "./parse.ts";
import { parseAgentFile } from "./parse-agent-file.ts";
import { resolveSteps, type Surroundings } from "./resolve-steps.ts";
import { rules } from "./shape/parts.ts";

/**
 * Compiles a file of agents: all of it is checked, and the part that is selected becomes the graph. Never throws on what a
 * file may hold.
 */
export async function compileAgents(
  root: YamlNode,
  problems: ProblemList,
  { select, agentFiles, hasWorkflow = nowhere }: LoadOptions,
): Promise<Compiled> {
  const reader = new Reader({ problems, rules });
  const own = parseAgentsFile(root, reader);
  const { shared, otherAgents, brokenAgents } = readNeighbours(own, (await agentFiles?.()) ?? []);
  const file = { ...own, ...shared };
  checkAgentsFile(own, shared, problems);
  const around: Surroundings = { otherAgents, brokenAgents, hasWorkflow: (name) => hasWorkflow(name) };
  const targets = await resolveSteps(file, around, problems);
  checkNesting(file, targets, problems);
  await checkLater(reader);
  if (problems.hasErrors) return { problems: problems.toArray() };
  const parts = toParts(file, { models: file.models, targets, agents: new Map() });
  const graph = select === "all" ? undefined : choose(parts, { select, file, problems })?.toGraph();
  return { graph, parts, files: filesOf(own), problems: problems.toArray() };
}

/** Files of servers. A name that the environment makes is not known here. */
function filesOf({ servers = [] }: AgentsFile): readonly NeededFile[] {
  return servers.flatMap(({ fileAt: at, settings }): NeededFile[] => {
    const { server_path: path, required } = settings;
    if (at === undefined || typeof path !== "string" || path.includes("${")) return [];
    return [{ kind: "server", path, at, ...(required === false ? { isOptional: true } : {}) }];
  });
}

/** Compiles an agent that stands in a Markdown file of its own. With the selection `all` the file may be none. */
export async function compileAgentFile(definition: Definition, select?: Selection): Promise<Compiled> {
  const { agent, problems } = parseAgentFile(definition, select === "all");
  const isPassedOver = problems.every(({ severity }) => severity === "warning");
  if (agent === undefined) return isPassedOver ? { parts: [], problems } : { problems };
  const file: AgentsFile = {
    at: agent.at,
    agents: [agent],
    models: [],
    servers: undefined,
    workflows: [],
    customWorkflows: [],
  };
  const [part] = toParts(file, { models: [], targets: new Map(), agents: new Map() });
  if (part === undefined) return { problems };
  return { graph: part.toGraph(), parts: [part], problems };
}

async function nowhere(): Promise<boolean> {
  return false;
}

function toParts(file: AgentsFile, context: LowerContext): readonly DefinitionPart[] {
  const workflows = file.workflows.map((workflow): DefinitionPart => {
    const { name, description, place } = workflow;
    const toGraph = (): Graph => toWorkflowGraph(workflow, file, context);
    return { kind: "workflow", name, description, place, toGraph };
  });
  const agents = file.agents.map((agent): DefinitionPart => {
    const { name, description, place } = agent;
    const toGraph = (): Graph => toAgentGraph(agent, file, context);
    const settings = effectiveSettings(agent, file.models);
    return { kind: "agent", name, description, place, settings, toGraph };
  });
  return [...workflows, ...agents];
}

interface Choice {
  readonly select: Exclude<Selection, "all"> | undefined;
  readonly file: AgentsFile;
  readonly problems: ProblemList;
}

/** Without a selection the only workflow, or the only agent where there is no workflow. */
function choose(parts: readonly DefinitionPart[], { select, file, problems }: Choice): DefinitionPart | undefined {
  const workflows = parts.filter(({ kind }) => kind === "workflow");
  const agents = parts.filter(({ kind }) => kind === "agent");
  if (select === undefined) {
    const own = workflows.length > 0 ? workflows : agents;
    if (own.length === 1) return own[0];
    problems.error({ code: "PART_NOT_CHOSEN", at: file.at, ...explainChoice(own) });
    return undefined;
  }
  const [kind, name] = "workflow" in select ? (["workflow", select.workflow] as const) : nameIn(select);
  const among = kind === "workflow" ? workflows : kind === "agent" ? agents : parts;
  const found = among.find((part) => part.name === name);
  if (found === undefined) {
    const message = `The file has no ${kind ?? "workflow or agent"} '${toExcerpt(name)}'.`;
    const code = kind === "agent" ? "AGENT_NOT_FOUND" : "WORKFLOW_NOT_FOUND";
    const names = among.map((part) => part.name);
    problems.error({ code, at: file.at, message, remedy: suggest(name, names) ?? listOf(names) });
  }
  return found;
}

function nameIn(select: { readonly agent: string } | { readonly name: string }) {
  return "agent" in select ? (["agent", select.agent] as const) : ([undefined, select.name] as const);
}

function explainChoice(parts: readonly DefinitionPart[]): { readonly message: string; readonly remedy?: string } {
  const [first] = parts;
  if (first === undefined) return { message: "The file has neither a workflow nor an agent to run." };
  const names = parts.map(({ name }) => name);
  const message = `The file has ${parts.length} ${first.kind}s, and none is named. ${listOf(names)}`;
  return { message, remedy: `Name one: \`FILE#${toExcerpt(first.name)}\`.` };
}

const MAX_LISTED = 20;

function listOf(names: readonly string[]): string {
  if (names.length === 0) return "It has none.";
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `It has: ${names.slice(0, MAX_LISTED).map(toExcerpt).join(", ")}${more}.`;
}

/** The graph of one workflow of a file. `part` says which it is, so that another process can compile the same. */
function toWorkflowGraph(workflow: WorkflowDefinition, file: AgentsFile, context: LowerContext): Graph {
  const { name, description, maxCostMicro, timeoutMs } = workflow;
  return {
    ...toFrame(name, description),
    flow: lowerWorkflow(workflow, context),
    limits: { maxCostMicro, timeoutMs },
    settings: {
      ...toSettings(file),
      part: { workflow: name },
      // A sequence is meant where nothing is said.
      ...(workflow.kind === "graph" ? { workflow_kind: "graph" } : {}),
    },
  };
}

/** The graph of one agent that is asked alone. Its output is what the agent's executor gives. */
function toAgentGraph(agent: AgentDefinition, file: AgentsFile, context: LowerContext): Graph {
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
