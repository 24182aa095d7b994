import { toExcerpt } from "../source/printable.ts";
import type { AgentDefinition, AgentSettingName, Named, Setting } from "./agents-file.ts";
import type { Component } from "./component.ts";
import { readName } from "./component-name.ts";
import { LooseReader } from "./loose-reader.ts";
import type { ParseContext } from "./parse-context.ts";

/** What Pawl itself gives to agents that list it. */
const BUILT_IN_TOOLS = ["web_fetch", "web_search", "files", "bash"] as const;

/** An agent's settings, with where each is written. Undefined: it has no name. */
export function parseAgent(component: Component, context: ParseContext): AgentDefinition | undefined {
  const named = readName(component, { what: "Agent", keys: ["name"] }, context);
  const reader = new LooseReader(component.map, `agent '${toExcerpt(named?.name ?? "")}'`, context);
  const { keys } = reader;
  keys.ignore("name", "type");
  const settings = new Map<AgentSettingName, Setting>();
  const add = (name: AgentSettingName, setting: Setting | undefined) => {
    if (setting !== undefined) settings.set(name, setting);
  };
  const description = reader.text("description")?.value;
  for (const [name, setting] of readModelSettings(reader)) add(name, setting);
  const prompt = reader.text("system_prompt");
  if (prompt !== undefined) add("system_prompt", reader.setting(prompt.value, prompt.at));
  add("max_iterations", reader.number("max_iterations", { min: 1, max: 10_000, integer: true }));
  add("include_history", reader.flag("include_history"));
  add("max_cost_usd", reader.number("max_cost_usd", { min: 0.000001, max: 1_000_000 }));
  add("max_total_tokens", reader.number("max_total_tokens", { min: 1, max: 1e12, integer: true }));
  add("repairs", reader.number("repairs", { min: 0, max: 10, integer: true }));
  add("timeout", reader.number("timeout", { min: 0.001, max: 31_536_000 }));
  for (const name of ["allow", "approve", "exclude"] as const) add(name, readNames(reader, name));
  add("tools", readTools(reader, context));
  add("output_schema", readSchema(reader, context));
  const clients = readClients(reader, context);
  add("clients", clients?.setting);
  const modelId = reader.text("llm_config_id");
  keys.reportUnknownKeys("an agent", LATER_KEYS);
  if (named === undefined) return undefined;
  return {
    ...named,
    description,
    place: reader.place(named.at),
    settings,
    ...(modelId === undefined ? {} : { modelId: { name: modelId.value, at: modelId.at } }),
    clients: clients?.names ?? [],
  };
}

/** Those that an `llm` component may have as well. */
export function readModelSettings(reader: LooseReader): readonly (readonly [AgentSettingName, Setting | undefined])[] {
  const model = reader.text("model");
  return [
    ["model", model === undefined || model.value.trim() === "" ? undefined : reader.setting(model.value, model.at)],
    ["temperature", reader.number("temperature", { min: 0, max: 2 })],
    ["max_tokens", reader.number("max_tokens", { min: 1, max: 100_000_000, integer: true })],
  ];
}

const LATER_KEYS = new Map([
  ["auto", "Name the servers of the agent in `mcp_servers`."],
  ["mcpServers", "Write `mcp_servers`, a list of names."],
  ["tool_names", "Write `allow`, a list of tools."],
  ["prompt", "Write `system_prompt`."],
]);

function readNames(reader: LooseReader, key: string): Setting | undefined {
  const names = reader.names(key);
  return names === undefined ? undefined : listOf(names, key, reader);
}

function listOf(names: readonly Named[], key: string, reader: LooseReader): Setting {
  const value = [...new Set(names.map(({ name }) => name))];
  return { value, place: reader.place(reader.keys.at(key)) };
}

/** `mcp_servers` is the later word for `client_ids`, and goes before it. */
function readClients(reader: LooseReader, { problems }: ParseContext) {
  const ids = reader.names("client_ids");
  const servers = reader.names("mcp_servers");
  if (ids !== undefined && servers !== undefined && !hasSameNames(ids, servers)) {
    const message = "`client_ids` is ignored: `mcp_servers` means the same, says something else, and wins.";
    problems.warning({ code: "KEY_DUPLICATE", at: reader.keys.at("client_ids"), message });
  }
  const names = servers ?? ids;
  if (names === undefined) return undefined;
  return { names, setting: listOf(names, servers === undefined ? "client_ids" : "mcp_servers", reader) };
}

function hasSameNames(some: readonly Named[], others: readonly Named[]): boolean {
  const names = new Set(some.map(({ name }) => name));
  return names.size === new Set(others.map(({ name }) => name)).size && others.every(({ name }) => names.has(name));
}

function readTools(reader: LooseReader, { problems }: ParseContext): Setting | undefined {
  const names = reader.names("tools");
  if (names === undefined) return undefined;
  for (const { name, at } of names) {
    if (BUILT_IN_TOOLS.some((tool) => tool === name)) continue;
    const message = `\`tools\` cannot hold \`${toExcerpt(name)}\`; the built-in tools are ${BUILT_IN_TOOLS.join(", ")}.`;
    const remedy = "Tools of MCP servers are named under `allow`.";
    problems.error({ code: "VALUE_INVALID", at, message, remedy });
  }
  return listOf(names, "tools", reader);
}

/** `config_validation_schema` is the later format's word. */
function readSchema(reader: LooseReader, { schemas }: ParseContext): Setting | undefined {
  const own = reader.keys.object("output_schema");
  const later = reader.keys.object("config_validation_schema");
  const schema = own ?? later;
  if (schema === undefined) return undefined;
  schemas.push({ at: schema.at, schema: schema.value });
  return reader.setting(schema.value, schema.at);
}
