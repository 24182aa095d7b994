import { type ErrorCode, isErrorCode } from "../../core/errors/error-table.ts";
import type { ToolSet } from "../../ports/tools/tool-set.ts";
import { McpFailure } from "../mcp-servers/mcp-failure.ts";
import { describeKnown } from "../output/near-names.ts";
import { findRoute, type McpExecutorOptions } from "./mcp-executor.ts";
import { readMcpInput } from "./mcp-input.ts";

export interface NamedTool {
  readonly tool: string;
  readonly server?: string | undefined;
}

export interface ToolProblem {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Failures that another try would not help. An address that does not answer now may answer when the step begins; a program that ends may not. */
const CERTAIN: ReadonlySet<string> = new Set([
  "MCP_SERVER_UNKNOWN",
  "MCP_SERVER_INVALID",
  "MCP_SERVER_FAILED",
  "MCP_LOGIN_NEEDED",
  "MCP_TOOL_UNKNOWN",
  "MCP_TOOL_AMBIGUOUS",
  "MCP_TOOL_NOT_ALLOWED",
  "TOOL_GUARD_IDLE",
] satisfies ErrorCode[]);

/** Why a step that calls this tool would be refused. Undefined: it would not be, or that is not known until `signal` aborts. */
export async function findToolProblem(
  named: NamedTool,
  parts: Pick<McpExecutorOptions, "servers" | "coreTools" | "endpoint">,
  signal: AbortSignal,
): Promise<ToolProblem | undefined> {
  try {
    const input = readMcpInput({ tool: named.tool, ...(named.server === undefined ? {} : { server: named.server }) });
    const route = await findRoute(input, signal, parts);
    // `server.*` is all of a server's.
    if (route.to === "server" && route.tool !== "*") await parts.servers.findTool(route, signal);
    return route.to === "core" ? findUnknown(route.tool, parts.coreTools) : undefined;
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    const { code, message } = error.failed;
    return isErrorCode(code) && CERTAIN.has(code) ? { code, message } : undefined;
  }
}

function findUnknown(tool: string, { tools }: ToolSet): ToolProblem | undefined {
  const names = tools.map(({ name }) => name);
  if (names.includes(tool)) return undefined;
  return { code: "MCP_TOOL_UNKNOWN", message: `There is no tool \`${tool}\`. ${describeKnown(tool, names)}` };
}
