import type { JsonObject } from "../../core/json.ts";
import { remedyFor } from "../../core/trust/check-grant.ts";
import { allows, grantOf } from "../../core/trust/grant.ts";
import type { Asks, Executor, Outcome, Task } from "../../ports/executor.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import type { ToolEndpoint } from "../../ports/tools/tool-endpoint.ts";
import type { ToolSet } from "../../ports/tools/tool-set.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import { McpFailure, refusal } from "../mcp-servers/mcp-failure.ts";
import type { McpServers } from "../mcp-servers/mcp-servers.ts";
import { toPlainName } from "../mcp-servers/toolbox/name-tools.ts";
import { Spending } from "../models/spending.ts";
import { toRefused } from "../output/failure.ts";
import { describeKnown } from "../output/near-names.ts";
import { callServer, type ServerCallParts } from "./call-server.ts";
import { type McpInput, readMcpInput } from "./mcp-input.ts";

export interface McpExecutorOptions {
  readonly servers: McpServers;
  readonly coreTools: ToolSet;
  readonly endpoint: ToolEndpoint;
  readonly validators: JsonSchemas;
  /** Asks models for servers. Absent: as for all. */
  readonly generate?: Generate | undefined;
}

/** Calls one tool: of a configured MCP server, of the run's endpoint, or a built-in one. Connections are shared and closed by their creator. */
export function createMcpExecutor(options: McpExecutorOptions): Executor {
  return {
    recordsInput: true,
    async run(task, signal) {
      const startedAt = performance.now();
      const spending = new Spending("");
      const outcome = await callTool(task, signal, { ...options, paid: (spent) => spending.add(spent) });
      spending.addCost(outcome.costMicro);
      const { total, prompt, completion } = spending.tokens;
      const tokens: JsonObject = total === 0 ? {} : { input_tokens: prompt, output_tokens: completion };
      const { tool } = readMcpInput(task.input);
      const durationMs = Math.round(performance.now() - startedAt);
      const usage = { ...outcome.usage, ...tokens, tool, calls: 1, duration_ms: durationMs };
      return { ...outcome, costMicro: spending.costMicro, usage };
    },
    async runEnded({ runId }) {
      options.servers.endRun(runId);
    },
  };
}

type Calling = McpExecutorOptions & Pick<ServerCallParts, "paid">;

async function callTool(task: Task, signal: AbortSignal, options: Calling): Promise<Outcome | Asks> {
  const input = readMcpInput(task.input);
  if (input.tool === "") return toRefused("MCP_TOOL_UNKNOWN", "The step names no tool.");
  try {
    const route = await findRoute(input, signal, options);
    const grant = grantOf(task.settings);
    if (route.to === "server" && !allows(grant, "servers", route.server)) {
      const message = `The step uses the MCP server \`${route.server}\`. ${remedyFor("servers", route.server)}`;
      return toRefused("NOT_GRANTED", message);
    }
    return await callRoute(route, { task, input, options }, signal);
  } catch (error) {
    if (error instanceof McpFailure) return error.failed;
    throw error;
  }
}

/** Decides where a tool is called. Throws an `McpFailure`. */
export async function findRoute(
  { tool, server, address }: Pick<McpInput, "tool" | "server" | "address">,
  signal: AbortSignal,
  options: Pick<McpExecutorOptions, "servers" | "coreTools" | "endpoint">,
): Promise<Route> {
  const isCore = options.coreTools.has(tool);
  const hasEndpoint = options.endpoint.isConfigured || address.endpoint !== undefined;
  // A built-in tool does not need the configuration of servers.
  const servers = isCore && server === undefined ? [] : await options.servers.names();
  const route = routeTool({ tool, server, hasEndpoint, isCore, servers });
  if (route.to !== "any") return route;
  return { to: "server", server: await findOfferingServer(tool, options.servers, signal), tool };
}

async function callRoute(
  route: Route,
  { task, input, options }: { readonly task: Task; readonly input: McpInput; readonly options: Calling },
  signal: AbortSignal,
): Promise<Outcome | Asks> {
  switch (route.to) {
    case "core": {
      const log = (event: JsonObject) => task.emit({ type: "log", event });
      const call = { arguments: input.arguments, appId: input.address.context.appId, step: task, log };
      return options.coreTools.call(route.tool, call, signal);
    }
    case "endpoint": {
      const { address, arguments: params } = input;
      const { runId, idempotencyKey } = task;
      return options.endpoint.call({ ...address, runId, tool: route.tool, params, idempotencyKey }, signal);
    }
    case "server":
      return callServer(route, { ...options, task, input }, signal);
  }
}

/** The place where a tool is called. */
type Route =
  | { readonly to: "core"; readonly tool: string }
  | { readonly to: "endpoint"; readonly tool: string }
  | { readonly to: "server"; readonly server: string; readonly tool: string };

/** Whichever configured server offers a tool of exactly this name. */
interface AnyServer {
  readonly to: "any";
  readonly tool: string;
}

export interface RoutingFacts {
  readonly tool: string;
  /** The server that the step names. */
  readonly server: string | undefined;
  /** True if the run's tools are called at an endpoint. */
  readonly hasEndpoint: boolean;
  readonly isCore: boolean;
  readonly servers: readonly string[];
}

/** Decides by names alone: a named server, then the endpoint or a built-in tool, then `SERVER.TOOL`. Reachability never changes a name's meaning. */
export function routeTool({ tool, server, hasEndpoint, isCore, servers }: RoutingFacts): Route | AnyServer {
  // `files.read` of the server `files` may be written either way.
  if (server !== undefined) return { to: "server", server, tool: splitName(tool, [server])?.tool ?? tool };
  // No endpoint of others knows who waits here.
  if (isCore) return { to: hasEndpoint && !tool.startsWith("core.events.") ? "endpoint" : "core", tool };
  const addressed = splitName(tool, servers);
  if (addressed !== undefined) return { to: "server", ...addressed };
  return { to: hasEndpoint ? "endpoint" : "any", tool };
}

/** The longest name of a server goes first, so that `a.b` is found before `a`. */
function splitName(name: string, servers: readonly string[]): { server: string; tool: string } | undefined {
  for (const server of [...servers].sort((a, b) => b.length - a.length)) {
    const prefixes = [`${server}.`, `${server}/`, `mcp__${server}__`, `mcp__${toPlainName(server)}__`];
    const prefix = prefixes.find((candidate) => name.startsWith(candidate) && name.length > candidate.length);
    if (prefix !== undefined) return { server, tool: name.slice(prefix.length) };
  }
  return undefined;
}

/** The one configured server that offers a tool of exactly this name. Throws an `McpFailure`. */
async function findOfferingServer(tool: string, servers: McpServers, signal: AbortSignal): Promise<string> {
  const names = await servers.names();
  const listed = await Promise.allSettled(names.map((server) => servers.list(server, signal)));
  const failures = listed.flatMap((settled) => (settled.status === "rejected" ? [settled.reason] : []));
  const defect = failures.find((failure) => !(failure instanceof McpFailure) || signal.aborted);
  if (defect !== undefined) throw defect;
  const tools = listed.map((settled) =>
    settled.status === "fulfilled" ? settled.value.tools.map(({ name }) => name) : [],
  );
  const offering = names.filter((_, index) => tools[index]?.includes(tool));
  const [found, ...others] = offering;
  if (found !== undefined && others.length === 0) return found;
  if (found !== undefined) throw ambiguous(tool, offering);
  // The one that is not there may be the one that has it.
  throw failures[0] ?? unknown(tool, names, tools.flat());
}

function ambiguous(tool: string, offering: readonly string[]): McpFailure {
  const ways = offering.map((server) => `\`${server}.${tool}\``).join(" or ");
  const message = `Several MCP servers offer a tool \`${tool}\`. Write ${ways}.`;
  return refusal("MCP_TOOL_AMBIGUOUS", message);
}

function unknown(tool: string, names: readonly string[], tools: readonly string[]): McpFailure {
  const where =
    names.length === 0
      ? "No MCP server is configured"
      : `None of the MCP servers ${names.map((name) => `"${name}"`).join(", ")} has it`;
  const hint = tools.length === 0 ? "" : ` ${describeKnown(tool, tools)}`;
  const message = `There is no tool \`${tool}\`. ${where}.${hint}`;
  return refusal("MCP_TOOL_UNKNOWN", message);
}
