import type { JsonObject } from "../../core/json.ts";

const text: JsonObject = { type: "string" };
const texts: JsonObject = { type: "array", items: text };
const name: JsonObject = { type: "string", minLength: 1, maxLength: 200 };
/** The format writes numbers and flags as texts as well. */
const number: JsonObject = { type: ["number", "string"] };
const flag: JsonObject = { type: ["boolean", "string"] };

const client: JsonObject = {
  type: "object",
  properties: {
    client_id: name,
    name,
    server_path: { type: "string", description: "A file, started by its ending" },
    command: text,
    args: { type: "array" },
    url: text,
    env: { type: "object" },
    headers: { type: "object" },
    cwd: text,
    venv: text,
    roots: { type: "array", items: { type: "object", required: ["uri"] } },
    capabilities: texts,
    timeout: { ...number, description: "Seconds" },
    routing_weight: number,
    exclude: texts,
    start: { enum: ["lazy", "eager"] },
  },
  anyOf: [{ required: ["client_id"] }, { required: ["name"] }],
};

const agent: JsonObject = {
  type: "object",
  properties: {
    name,
    description: text,
    client_ids: { ...texts, description: "Absent: all servers. Empty: none" },
    mcp_servers: { ...texts, description: "The later word for client_ids" },
    system_prompt: text,
    model: text,
    temperature: number,
    max_tokens: number,
    max_iterations: number,
    include_history: flag,
    exclude: texts,
    allow: texts,
    approve: { ...texts, description: "Tools that need a person's yes" },
    tools: { type: "array", items: { enum: ["web_fetch", "web_search", "files", "bash"] } },
    output_schema: { type: "object" },
    repairs: number,
    max_cost_usd: number,
    max_total_tokens: number,
    timeout: { ...number, description: "Seconds" },
    llm_config_id: text,
  },
  required: ["name"],
};

const step: JsonObject = {
  anyOf: [
    { type: "string", description: "The name of an agent or of a workflow" },
    { type: "object", properties: { name, type: text }, required: ["name"] },
  ],
};

const workflow: JsonObject = {
  type: "object",
  properties: {
    name,
    description: text,
    steps: { type: "array", items: step },
    nodes: { type: "array", items: { type: "object", properties: { node_id: text, name, type: text } } },
    edges: { type: "array", items: { type: "object", required: ["from", "to"] } },
    max_cost_usd: number,
    timeout: { ...number, description: "Seconds" },
  },
  required: ["name"],
  anyOf: [{ required: ["steps"] }, { required: ["nodes"] }],
};

/**
 * The original's structure, for editors. The later format's lists of components have no schema of their own, and the loader
 * checks more than a schema can say.
 */
export const agentsFileSchema: JsonObject = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "File of agents",
  description: "MCP servers, agents that use their tools, and sequences of agents",
  type: "object",
  properties: {
    name: text,
    description: text,
    clients: { type: "array", items: client },
    agents: { type: "array", items: agent },
    workflows: { type: "array", items: workflow },
    custom_workflows: { type: "array", description: "Python classes, which Pawl does not run" },
  },
};
