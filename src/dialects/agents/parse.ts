import type { Json } from "../../core/json.ts";
import { type Reader, type Shape, TOP } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import { isNull, startOf, type YamlNode } from "../source/yaml-node.ts";
import type {
  AgentDefinition,
  AgentSettingName,
  AgentsFile,
  CustomWorkflow,
  ModelDefinition,
  Named,
  ServerDefinition,
  Setting,
  WorkflowDefinition,
} from "./agents-file.ts";
import { type Component, type ComponentKind, findComponents } from "./component.ts";
import { type NameRule, readName } from "./component-name.ts";
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

/** Reads a whole file, whichever shape it has. What is wrong is reported and left out, so that the rest is still checked. */
export function parseAgentsFile(root: YamlNode, reader: Reader): AgentsFile {
  const { components, namesServers } = findComponents(root, reader);
  const each = <Part>(kind: ComponentKind, parse: (component: Component, reader: Reader) => Part | undefined) =>
    components.filter((component) => component.kind === kind).flatMap((component) => parse(component, reader) ?? []);
  const servers = each("server", parseServer);
  return {
    at: startOf(root),
    agents: each("agent", (component) =>
      readNamed(component, { shape: agent, what: "agent", convert: toAgent }, reader),
    ),
    models: each("model", (component) => readNamed(component, { shape: model, what: "llm", convert: toModel }, reader)),
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
    settings: toSettings([
      ["model", read.model],
      ["temperature", read.temperature],
      ["max_tokens", read.max_tokens],
      ["system_prompt", read.system_prompt],
      ["max_iterations", read.max_iterations],
      ["include_history", read.include_history],
      ["max_cost_usd", read.max_cost_usd],
      ["max_total_tokens", read.max_total_tokens],
      ["repairs", read.repairs],
      ["timeout", read.timeout],
      ["allow", read.allow],
      ["approve", read.approve],
      ["exclude", read.exclude],
      ["tools", read.tools],
      ["output_schema", read.output_schema],
      ["clients", clients && { value: names, place: source.place(place) }],
    ]),
    modelId: modelId && toNamed(modelId),
    clients: clients ?? [],
  };
}

function toSettings(given: readonly (readonly [AgentSettingName, Setting | undefined])[]) {
  return new Map(given.flatMap(([name, setting]) => (setting === undefined ? [] : [[name, setting] as const])));
}

function toModel(read: ReadModel, named: Named): ModelDefinition {
  const { provider, temperature, max_tokens, system_prompt } = read;
  const written = read.model ?? read.model_name;
  const name = written && { ...written, value: withProvider(String(written.value), provider?.value.trim()) };
  const settings = toSettings([
    ["model", name],
    ["temperature", temperature],
    ["max_tokens", max_tokens],
    ["system_prompt", system_prompt],
  ]);
  return { ...named, settings };
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
function parseServer(component: Component, reader: Reader): ServerDefinition | undefined {
  const shape = server(component.isPlainServer === true ? 1 : 1_000);
  return readNamed(component, { shape, what: "client", convert: toServer }, reader);
}

function toServer(read: ReadServer, named: Named, reader: Reader): ServerDefinition {
  const { at: map, server_path: path, command, url } = read;
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
  const settings: readonly (readonly [string, Json | undefined])[] = [
    ["type", toTransport((read.transport_type ?? read.type)?.value ?? "")],
    ["server_path", path?.value],
    ["command", command?.value],
    ["url", url?.value],
    ["args", read.args?.map(({ name }) => name)],
    ["env", read.env],
    ["cwd", read.cwd?.value],
    ["headers", read.headers],
    ["venv", read.venv?.value],
    ["roots", read.roots],
    ["timeout_ms", read.timeout],
    ["routing_weight", read.routing_weight],
    ["exclude", read.exclude?.map(({ name }) => name)],
    ["start", read.start],
    ["protocol", read.protocol],
    ["tools", read.tools],
  ];
  return {
    ...named,
    settings: Object.fromEntries(settings.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
  };
}

/** A sequence (`steps`), or a graph (`nodes` and `edges`). */
function parseWorkflow(component: Component, reader: Reader): WorkflowDefinition | undefined {
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
  if (isGraph) {
    return readNamed(
      component,
      {
        shape: graph,
        what: "workflow",
        convert: (read, named) => {
          const { nodes = [], edges = [] } = read;
          return { ...toCommon(read, named, reader), kind: "graph" as const, nodes, edges };
        },
      },
      reader,
    );
  }
  return readNamed(
    component,
    {
      shape: linear,
      what: "workflow",
      convert: (read, named) => ({
        ...toCommon(read, named, reader),
        kind: "linear" as const,
        steps: read.steps ?? [],
      }),
    },
    reader,
  );
}

interface ReadCommon {
  readonly description: { readonly value: string } | undefined;
  readonly max_cost_usd: number | undefined;
  readonly timeout: number | undefined;
}

function toCommon({ description, max_cost_usd: costUsd, timeout }: ReadCommon, named: Named, { source }: Reader) {
  return {
    ...named,
    description: description?.value,
    place: source.place(named.at),
    maxCostMicro: costUsd === undefined ? undefined : Math.round(costUsd * 1_000_000),
    timeoutMs: timeout === undefined ? undefined : Math.max(1, Math.round(timeout * 1_000)),
  };
}

function parseCustomWorkflow(component: Component, reader: Reader): CustomWorkflow | undefined {
  return readNamed(
    component,
    {
      shape: custom,
      what: "custom workflow",
      convert: ({ module_path: module, class_name: name }, named) => {
        const parts = [module?.value, name?.value].filter((part) => part !== undefined && part !== "");
        return { ...named, python: parts.join(":") };
      },
    },
    reader,
  );
}
