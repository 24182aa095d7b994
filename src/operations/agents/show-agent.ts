import { basename, relative } from "node:path";
import { z } from "zod";
import { readMcpServers } from "../../config/read-mcp-servers.ts";
import type { ProblemPlace } from "../../core/errors/problem.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { describeCommand } from "../../core/trust/secret-names.ts";
import type { DefinitionPart } from "../../dialects/definition.ts";
import type { Ports } from "../application/ports.ts";
import { type Frozen, jsonSchema } from "../schemas.ts";
import { notFound } from "./agent-catalog.ts";
import { type AgentSource, readAgentSources } from "./read-agent-sources.ts";

type AgentApplication = Pick<Ports, "appDir" | "config" | "mask" | "tenantId">;

export const shownAgentSchema = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    origin: z.string().describe("The place, relative to the application."),
    settings: z.array(
      z.object({
        setting: z.string(),
        value: jsonSchema.describe("Without secrets; null where it is not set."),
        origin: z.string().describe("The place where it is written, or the rule that decides otherwise."),
      }),
    ),
    servers: z
      .array(
        z.object({
          name: z.string(),
          origin: z.string().nullable(),
          reached: z.string().nullable().describe("The command that is started, or the URL."),
        }),
      )
      .describe("Those whose tools it may have. A tenant is told their names only."),
  })
  .meta({ id: "Agent" });

/** An agent as it would run. */
export type ShownAgent = Frozen<z.output<typeof shownAgentSchema>>;
type ShownAgentSetting = ShownAgent["settings"][number];
type ShownServer = ShownAgent["servers"][number];

/** Describes the settings of an agent, each with the place it comes from. Throws `AGENT_NOT_FOUND`. */
export async function showAgent(app: AgentApplication, name: string): Promise<ShownAgent> {
  const sources = await readAgentSources(app);
  const source = sources.find(({ agents }) => agents.some((agent) => agent.name === name));
  const part = source?.agents.find((agent) => agent.name === name);
  if (source === undefined || part === undefined)
    throw notFound(
      name,
      sources.flatMap(({ agents }) => agents.map((agent) => agent.name)),
    );
  const servers = await serversOf(part, source, app);
  return {
    name,
    description: part.description ?? null,
    origin: toOrigin(part.place, app.appDir),
    settings: settingsOf(part, app),
    servers:
      app.tenantId === undefined
        ? servers
        : servers.map(({ name: each }) => ({ name: each, origin: null, reached: null })),
  };
}

export function toOrigin({ file, line }: ProblemPlace, appDir: string): string {
  return `${file === undefined ? "" : relative(appDir, file) || basename(file)}:${line}`;
}

/** Defaults of the agent's executor. */
const DEFAULTS: readonly (readonly [setting: string, value: Json])[] = [
  ["system_prompt", null],
  ["temperature", 0.7],
  ["max_tokens", 4_096],
  ["max_iterations", 10],
  ["include_history", false],
  ["clients", "all"],
  ["tools", []],
];

function settingsOf({ settings = [] }: DefinitionPart, { appDir, config, mask }: AgentApplication) {
  const written = new Map(settings.map((setting) => [setting.name as string, setting]));
  const model: readonly (readonly [string, Json])[] = [["model", config.settings.models.default ?? null]];
  const open = [...model, ...DEFAULTS].filter(([name]) => !written.has(name));
  const shown = settings.map(({ name, value, place, model: from }): ShownAgentSetting => {
    const at = toOrigin(place, appDir);
    return { setting: name, value: masked(value, mask), origin: from === undefined ? at : `llm '${from}', ${at}` };
  });
  const byDefault = open.map(([name, value]): ShownAgentSetting => {
    const origin = name === "model" && value !== null ? (config.origins.get("models.default") ?? "default") : "default";
    return { setting: name, value, origin };
  });
  const order = [
    "model",
    "system_prompt",
    "temperature",
    "max_tokens",
    "max_iterations",
    "include_history",
    "clients",
    "tools",
  ];
  const rank = ({ setting }: ShownAgentSetting) => (order.indexOf(setting) + order.length + 1) % (order.length + 1);
  return [...shown, ...byDefault].sort((some, other) => rank(some) - rank(other));
}

function masked(value: Json, mask: (text: string) => string): Json {
  return parseExact(mask(writeExact(value))) as Json;
}

async function serversOf(
  part: DefinitionPart,
  source: AgentSource,
  { appDir, config, mask }: AgentApplication,
): Promise<readonly ShownServer[]> {
  const { mcp_servers: own } = part.toGraph().settings;
  const clients = part.settings?.find(({ name }) => name === "clients")?.value;
  const isWanted = (name: string) => !Array.isArray(clients) || clients.includes(name);
  if (isJsonObject(own)) {
    const origin = relative(appDir, source.file) || basename(source.file);
    return Object.entries(own).flatMap(([name, settings]) =>
      isWanted(name) && isJsonObject(settings) ? [{ name, origin, reached: mask(describeWay(settings)) }] : [],
    );
  }
  const servers = await readMcpServers(appDir, config.settings.mcp.servers);
  return [...servers].flatMap(([name, { origin, settings }]) => {
    const reached =
      "problem" in settings ? `cannot be used: ${settings.problem}` : describeWay({ ...settings } as JsonObject);
    return isWanted(name) ? [{ name, origin, reached: mask(reached) }] : [];
  });
}

/** Without what may be a secret: environment, headers, and what an address holds beside its place. */
function describeWay({ server_path: path, command, args, url }: JsonObject): string {
  if (typeof url === "string") return url.replace(/\/\/[^/@]*@/, "//").replace(/[?#].*$/s, "");
  if (typeof path === "string") return path;
  return describeCommand([command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string"));
}
