import type { JsonObject } from "../../core/json.ts";
import { remedyFor } from "../../core/trust/check-grant.ts";
import { allows, grantOf } from "../../core/trust/grant.ts";
import type { Executor, Outcome, Task } from "../../ports/executor.ts";
import type { ToolEndpoint } from "../../ports/tools/tool-endpoint.ts";
import type { ToolSet } from "../../ports/tools/tool-set.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import { McpFailure } from "../mcp-servers/mcp-failure.ts";
import type { McpServers } from "../mcp-servers/mcp-servers.ts";
import { toRefused } from "../output/failure.ts";
import { callServer } from "./call-server.ts";
import { type McpInput, readMcpInput } from "./mcp-input.ts";
import { findOfferingServer, type Route, routeTool } from "./route-tool.ts";

export interface McpExecutorOptions {
  readonly servers: McpServers;
  readonly coreTools: ToolSet;
  readonly endpoint: ToolEndpoint;
  readonly validators: JsonSchemas;
}

/**
 * Calls one tool: of a configured MCP server, of the run's endpoint, or a built-in one. What it connects is shared with
 * others and closed by whoever made it.
 */
export function createMcpExecutor(options: McpExecutorOptions): Executor<Outcome> {
  return {
    recordsInput: true,
    async run(task, signal) {
      const startedAt = performance.now();
      const outcome = await callTool(task, signal, options);
      const { tool } = readMcpInput(task.input);
      const usage = { ...outcome.usage, tool, calls: 1, duration_ms: Math.round(performance.now() - startedAt) };
      return { ...outcome, usage };
    },
  };
}

async function callTool(task: Task, signal: AbortSignal, options: McpExecutorOptions): Promise<Outcome> {
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
  { task, input, options }: { readonly task: Task; readonly input: McpInput; readonly options: McpExecutorOptions },
  signal: AbortSignal,
): Promise<Outcome> {
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
