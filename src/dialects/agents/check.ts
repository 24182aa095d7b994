import { orderSteps } from "../../core/graph/steps-within.ts";
import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import type { AgentDefinition, Named } from "./agents-file.ts";
import type { AgentsFile, GraphWorkflow } from "./parse.ts";
import { INSTEAD_OF_CUSTOM } from "./resolve-steps.ts";

/** A file with more is not written for a reader. */
const MAX_WORKFLOWS = 1_000;

/** What agents may name beside the parts of their own file, and those. */
export type SharedParts = Pick<AgentsFile, "models" | "servers">;

/** Checks what holds between the parts of a file: names, servers and models that agents name, nodes and edges. */
export function checkAgentsFile(file: AgentsFile, shared: SharedParts, problems: ProblemList): void {
  const { agents, models, servers = [], workflows, customWorkflows } = file;
  if (workflows.length > MAX_WORKFLOWS) {
    const message = `The file has ${workflows.length} workflows; ${MAX_WORKFLOWS} are allowed.`;
    problems.error({ code: "TOO_LARGE", at: workflows[MAX_WORKFLOWS]?.at ?? file.at, message });
  }
  checkNames("agents", agents, problems);
  checkNames("llm components", models, problems);
  checkNames("clients", servers, problems);
  checkNames("workflows", workflows, problems);
  for (const agent of agents) {
    checkServers(agent, shared, problems);
    checkModel(agent, shared, problems);
    reportUnreachableSite(agent, shared, problems);
  }
  for (const custom of customWorkflows) {
    const python = custom.python === "" ? "a Python class" : `the Python class ${toExcerpt(custom.python)}`;
    const message = `Custom workflow '${toExcerpt(custom.name)}' is ${python}, which Pawl does not run.`;
    problems.warning({ code: "NOT_SUPPORTED", at: custom.at, message, remedy: INSTEAD_OF_CUSTOM });
  }
  for (const workflow of workflows) if (workflow.kind === "graph") checkNodes(workflow, problems);
}

function checkNames(what: string, parts: readonly Named[], problems: ProblemList): void {
  const seen = new Map<string, Named>();
  for (const part of parts) {
    const first = seen.get(part.name);
    if (first === undefined) {
      seen.set(part.name, part);
      continue;
    }
    const message = `Two ${what} are named '${toExcerpt(part.name)}'; the first is on line ${problems.source.place(first.at).line}.`;
    problems.error({ code: "NAME_TAKEN_TWICE", at: part.at, message });
  }
}

/** The original does not refuse it either: such an agent has a server less. */
function checkServers({ name, clients }: AgentDefinition, { servers }: SharedParts, problems: ProblemList): void {
  if (servers === undefined) return;
  const known = servers.map((server) => server.name);
  for (const client of clients) {
    if (known.includes(client.name)) continue;
    const message = `Agent '${toExcerpt(name)}' names the client '${toExcerpt(client.name)}', which the file does not have.`;
    const remedy = suggest(client.name, known) ?? "Add it to `clients`, or remove the name.";
    problems.slip({ code: "MCP_SERVER_UNKNOWN", at: client.at, message, remedy });
  }
}

function checkModel({ name, modelId }: AgentDefinition, { models }: SharedParts, problems: ProblemList): void {
  if (modelId === undefined || models.some((model) => model.name === modelId.name)) return;
  const message = `Agent '${toExcerpt(name)}' references unknown llm '${toExcerpt(modelId.name)}'`;
  const known = models.map((model) => model.name);
  const remedy = suggest(modelId.name, known) ?? "Add an `llm` component of this name, or write `model`.";
  problems.error({ code: "VALUE_INVALID", at: modelId.at, message, remedy });
}

const READS_SITES = ["web_fetch", "web_search", "bash"];

/** A prompt that names a site, of an agent that certainly has no tool at all to read it. */
function reportUnreachableSite(agent: AgentDefinition, { servers }: SharedParts, problems: ProblemList): void {
  const { settings } = agent;
  const url = /https?:\/\/[^\s"'<>)\]]+/.exec(String(settings.get("system_prompt")?.value ?? ""))?.[0];
  if (url === undefined) return;
  const clients = settings.get("clients")?.value;
  const tools = settings.get("tools")?.value;
  const hasServers = Array.isArray(clients) ? clients.length > 0 : servers?.length !== 0;
  if (hasServers || (Array.isArray(tools) && tools.some((tool) => READS_SITES.includes(String(tool))))) return;
  const message = `Agent '${toExcerpt(agent.name)}' is asked for ${toExcerpt(url)} and has no tool to read it.`;
  problems.warning({ code: "SITE_WITHOUT_TOOL", at: agent.at, message });
}

function checkNodes({ name, nodes, edges }: GraphWorkflow, problems: ProblemList): void {
  const ids = new Set<string>();
  for (const { id, at } of nodes) {
    const message = `Workflow '${toExcerpt(name)}' has two nodes '${toExcerpt(id)}'.`;
    if (ids.has(id)) problems.error({ code: "STEP_DUPLICATE", at, message });
    ids.add(id);
  }
  for (const end of edges.flatMap(({ from, to }) => [from, to])) {
    if (ids.has(end.name)) continue;
    const message = `Workflow '${toExcerpt(name)}' has an edge of the unknown node '${toExcerpt(end.name)}'.`;
    problems.error({ code: "STEP_UNKNOWN", at: end.at, message, remedy: suggest(end.name, ids) });
  }
  const before = Map.groupBy(edges, ({ to }) => to.name);
  const steps = [...ids].map((id) => ({ id, after: (before.get(id) ?? []).map(({ from }) => from.name) }));
  for (const index of orderSteps(steps).order) ids.delete(steps[index]?.id ?? "");
  // What is left is in a circle, or behind one.
  const edge = edges.find(({ from, to }) => ids.has(from.name) && ids.has(to.name));
  if (edge === undefined) return;
  const message = `The nodes of workflow '${toExcerpt(name)}' depend on each other in a circle.`;
  problems.error({ code: "STEP_CYCLE", at: edge.from.at, message, remedy: "Remove one of the edges." });
}
