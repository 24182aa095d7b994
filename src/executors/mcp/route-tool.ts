import { McpFailure, refusal } from "../mcp-servers/mcp-failure.ts";
import type { McpServers } from "../mcp-servers/mcp-servers.ts";
import { describeKnown } from "../output/near-names.ts";

/** The place where a tool is called. */
export type Route =
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

/**
 * Decides by names alone: a server that the step names, then the endpoint or the built-in tools, then `SERVER.TOOL`.
 * Reachability never decides, or a name could mean another tool tomorrow.
 */
export function routeTool({ tool, server, hasEndpoint, isCore, servers }: RoutingFacts): Route | AnyServer {
  if (server !== undefined) return { to: "server", server, tool: withoutServer(tool, server) };
  if (isCore) return { to: hasEndpoint ? "endpoint" : "core", tool };
  const addressed = splitName(tool, servers);
  if (addressed !== undefined) return { to: "server", ...addressed };
  return { to: hasEndpoint ? "endpoint" : "any", tool };
}

/** `files.read` of the server `files` may be written either way. */
function withoutServer(tool: string, server: string): string {
  return splitName(tool, [server])?.tool ?? tool;
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

/** The name as written by programs that allow fewer characters. */
function toPlainName(server: string): string {
  return server.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** The one configured server that offers a tool of exactly this name. Throws an `McpFailure`. */
export async function findOfferingServer(tool: string, servers: McpServers, signal: AbortSignal): Promise<string> {
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
