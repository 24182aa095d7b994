import { McpFailure } from "../mcp-servers/mcp-failure.ts";
import type { McpServers } from "../mcp-servers/mcp-servers.ts";
import { describeKnown } from "../output/near-names.ts";

interface Listed {
  readonly server: string;
  readonly tools: readonly string[];
  readonly failure?: McpFailure;
}

/** The one configured server that offers a tool of exactly this name. Throws an `McpFailure`. */
export async function findOfferingServer(tool: string, servers: McpServers, signal: AbortSignal): Promise<string> {
  const names = await servers.names();
  const listed = await Promise.all(names.map((server) => list(server, servers, signal)));
  const offering = listed.filter(({ tools }) => tools.includes(tool)).map(({ server }) => server);
  const [found, ...others] = offering;
  if (found !== undefined && others.length === 0) return found;
  if (found !== undefined) throw ambiguous(tool, offering);
  // The one that is not there may be the one that has it.
  const failure = listed.find((candidate) => candidate.failure !== undefined)?.failure;
  throw (
    failure ??
    unknown(
      tool,
      names,
      listed.flatMap(({ tools }) => tools),
    )
  );
}

async function list(server: string, servers: McpServers, signal: AbortSignal): Promise<Listed> {
  try {
    const tools = await servers.tools(server, signal);
    return { server, tools: tools.map(({ name }) => name) };
  } catch (error) {
    if (!(error instanceof McpFailure) || signal.aborted) throw error;
    return { server, tools: [], failure: error };
  }
}

function ambiguous(tool: string, offering: readonly string[]): McpFailure {
  const ways = offering.map((server) => `\`${server}.${tool}\``).join(" or ");
  const message = `Several MCP servers offer a tool \`${tool}\`. Write ${ways}.`;
  return new McpFailure("MCP_TOOL_AMBIGUOUS", { message, retryable: false, effect: "none" });
}

function unknown(tool: string, names: readonly string[], tools: readonly string[]): McpFailure {
  const where =
    names.length === 0
      ? "No MCP server is configured"
      : `None of the MCP servers ${names.map((name) => `"${name}"`).join(", ")} has it`;
  const hint = tools.length === 0 ? "" : ` ${describeKnown(tool, tools)}`;
  const message = `There is no tool \`${tool}\`. ${where}.${hint}`;
  return new McpFailure("MCP_TOOL_UNKNOWN", { message, retryable: false, effect: "none" });
}
