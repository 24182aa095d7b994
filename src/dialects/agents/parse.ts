import type { Json } from "../../core/json.ts";
import { type Reader, type ReadOf, type Shape, TOP } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import { isNull, startOf, type YamlNode } from "../source/yaml-node.ts";
import {
  AGENT_SETTINGS,
  type AgentDefinition,
  type AgentSettingName,
  MODEL_SETTINGS,
  type ModelDefinition,
  type Named,
  type Setting,
} from "./agents-file.ts";
import { type Component, type ComponentKind, findComponents, type NameRule, readName } from "./component.ts";
import { agent, model, type ReadAgent, type ReadModel } from "./shape/agent-shape.ts";
import { toNamed } from "./shape/parts.ts";
import { type ReadServer, server, toTransport } from "./shape/server-shape.ts";
import { custom, graph, linear } from "./shape/workflow-shape.ts";

export const NAME_RULES: { readonly [kind in ComponentKind]: NameRule } = {
  agent: { what: "Agent", keys: ["name"] },
  model: { what: "LLM", keys: ["name", "llm_id"] },
  server: { what: "Client", keys: ["client_id", "name"] },
  workflow: { what: "Workflow", keys: ["name"] },
  custom: { what: "Workflow", keys: ["name"] },
};

/** The content of a file of agents, whichever of its shapes it has; nothing yet checked across its parts. */
export type AgentsFile = ReturnType<typeof parseAgentsFile>;

/** Reads a whole file. What is wrong is reported and left out, so that the rest is still checked. */
export function parseAgentsFile(root: YamlNode, reader: Reader) {
  const { components, namesServers } = findComponents(root, reader);
  const each = <Part>(kind: ComponentKind, parse: (component: Component, reader: Reader) => Part | undefined) =>
    components.filter((component) => component.kind === kind).flatMap((component) => parse(component, reader) ?? []);
  const servers = each("server", parseServer);
  return {
    /** The place for problems of the file as a whole. */
    at: startOf(root),
    agents: each("agent", (component) =>
      readNamed(component, { shape: agent, what: "agent", convert: toAgent }, reader),
    ),
    models: each("model", (component) => readNamed(component, { shape: model, what: "llm", convert: toModel }, reader)),
    /** Undefined: the file says nothing of servers, so its agents use those of the application. */
    servers: namesServers ? servers : undefined,
    workflows: each("workflow", parseWorkflow),
    customWorkflows: each("custom", parseCustomWorkflow),
  };
}

interface Kind<Read, Part> {
  readonly shape: Shape<Read>;
  /** In complaints of its settings. */
  readonly what: string;
  convert(read: Read, named: Named, reader: Reader): Part;
}

function readNamed<Read, Part>(
  component: Component,
  { shape, what, convert }: Kind<Read, Part>,
  reader: Reader,
): Part | undefined {
  const named = readName(component, NAME_RULES[component.kind], reader);
  const opening = `Invalid parameter type for ${what} '${toExcerpt(named?.name ?? "")}'`;
  const read = shape.read(component.map, TOP, reader.within(opening));
  return named === undefined || read === undefined ? undefined : convert(read, named, reader);
}

function toAgent(read: ReadAgent, named: Named, { source }: Reader): AgentDefinition {
  const { mcp_servers: clients, llm_config_id: modelId, at } = read;
  const place = at.entries.get("mcp_servers")?.value ?? at.entries.get("client_ids")?.value ?? at;
  const names = [...new Set(clients?.map(({ name }) => name))];
  return {
    ...named,
    description: read.description?.value,
    place: source.place(named.at),
    settings: new Map<AgentSettingName, Setting>([
      ...pick<(typeof AGENT_SETTINGS)[number], Setting>(read, AGENT_SETTINGS),
      ...(clients === undefined ? [] : [["clients", { value: names, place: source.place(place) }] as const]),
    ]),
    modelId: modelId && toNamed(modelId),
    clients: clients ?? [],
  };
}

function toModel(read: ReadModel, named: Named): ModelDefinition {
  const written = read.model ?? read.model_name;
  const model = written && { ...written, value: withProvider(String(written.value), read.provider?.value.trim()) };
  return {
    ...named,
    settings: new Map(pick<(typeof MODEL_SETTINGS)[number], Setting>({ ...read, model }, MODEL_SETTINGS)),
  };
}

/** Those of the values that are there. */
function pick<Key extends string, Value>(
  read: { readonly [key in Key]: Value | undefined },
  keys: readonly Key[],
): readonly (readonly [Key, Value])[] {
  return keys.flatMap((key) => {
    const value = read[key];
    return value === undefined ? [] : [[key, value] as const];
  });
}

/** Providers that go by another name here. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["gemini", "google"],
  ["vertex_ai", "google"],
]);

/** `provider:model`; some files repeat the provider in the model, as `provider/model`. */
function withProvider(model: string, provider: string | undefined): string {
  if (provider === undefined || provider === "") return model;
  const known = PROVIDERS.get(provider) ?? provider;
  const bare = model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;
  return bare.startsWith(`${known}:`) ? bare : `${known}:${bare}`;
}

/** A client of the original format, an `mcp_server` of the later one, or an entry of a map `mcpServers`, in the words of its host. */
function parseServer(component: Component, reader: Reader) {
  const shape = server(component.isPlainServer === true ? 1 : 1_000);
  return readNamed(component, { shape, what: "client", convert: toServer }, reader);
}

/** `settings`: what the host gets. `${NAME}` is unresolved. */
function toServer(read: ReadServer, named: Named, reader: Reader) {
  const { at: map } = read;
  const given = (key: string) => {
    const node = map.entries.get(key)?.value;
    return node === undefined || isNull(node) ? undefined : node;
  };
  const ways = [given("server_path"), given("command"), given("url") ?? given("http_endpoint")];
  if (!ways.some((node) => node?.kind === "scalar" && node.written.trim() !== "")) {
    const message = "The client says neither `server_path` nor `command` nor `url`.";
    const at = map.entries.get("server_path")?.value ?? startOf(map);
    reader.refuse({ code: "KEY_MISSING", at, message, remedy: "Add one of the three." });
  }
  const type = toTransport((read.transport_type ?? read.type)?.value ?? "");
  const written = { ...read, type, timeout_ms: read.timeout };
  const file = given("server_path");
  return {
    ...named,
    /** The place of the file that it is started from. */
    fileAt: file && reader.source.place(file),
    settings: Object.fromEntries(pick<(typeof SERVER_SETTINGS)[number], Json>(written, SERVER_SETTINGS)),
  };
}

const SERVER_SETTINGS = [
  "type",
  "server_path",
  "command",
  "url",
  "args",
  "env",
  "cwd",
  "headers",
  "venv",
  "roots",
  "timeout_ms",
  "routing_weight",
  "exclude",
  "required",
  "start",
  "protocol",
  "tools",
  "oauth",
  "elicitation",
  "sampling",
] as const;

/** A sequence (`steps`), or a graph (`nodes` and `edges`). */
function parseWorkflow(component: Component, reader: Reader) {
  const { entries } = component.map;
  const type = entries.get("type")?.value;
  const has = (key: string) => {
    const value = entries.get(key)?.value;
    return value !== undefined && !reader.isAbsent(value);
  };
  const isGraph = (type?.kind === "scalar" && type.value === "graph_workflow") || (has("nodes") && !has("steps"));
  const key = isGraph ? "nodes" : "steps";
  if (!entries.has(key)) {
    const message = `The workflow has no \`${key}\`.`;
    const what = isGraph ? "`{node_id, name, type}`" : "the names of agents and workflows";
    reader.refuse({
      code: "KEY_MISSING",
      at: startOf(component.map),
      message,
      remedy: `Add \`${key}\`: a list of ${what}.`,
    });
  }
  const what = "workflow";
  return isGraph
    ? readNamed(component, { shape: graph, what, convert: toGraphWorkflow }, reader)
    : readNamed(component, { shape: linear, what, convert: toSequence }, reader);
}

export type WorkflowDefinition = AgentsFile["workflows"][number];
export type GraphWorkflow = ReturnType<typeof toGraphWorkflow>;

function toGraphWorkflow(read: ReadOf<typeof graph>, named: Named, reader: Reader) {
  const { nodes = [], edges = [] } = read;
  return { ...toCommon(read, named, reader), kind: "graph", nodes, edges } as const;
}

function toSequence(read: ReadOf<typeof linear>, named: Named, reader: Reader) {
  return { ...toCommon(read, named, reader), kind: "linear", steps: read.steps ?? [] } as const;
}

type ReadCommon = Pick<ReadOf<typeof linear>, "description" | "include_history" | "max_cost_usd" | "timeout">;

function toCommon(
  { description, include_history: includesHistory, max_cost_usd: costUsd, timeout }: ReadCommon,
  named: Named,
  { source }: Reader,
) {
  return {
    ...named,
    description: description?.value,
    place: source.place(named.at),
    includesHistory,
    maxCostMicro: costUsd === undefined ? undefined : Math.round(costUsd * 1_000_000),
    timeoutMs: timeout === undefined ? undefined : Math.max(1, Math.round(timeout * 1_000)),
  };
}

function parseCustomWorkflow(component: Component, reader: Reader) {
  return readNamed(component, { shape: custom, what: "custom workflow", convert: toCustom }, reader);
}

/** `python`: the module and the class, as far as they are named. */
function toCustom({ module_path: module, class_name: name }: ReadOf<typeof custom>, named: Named) {
  const parts = [module?.value, name?.value].filter((part) => part !== undefined && part !== "");
  return { ...named, python: parts.join(":") };
}
