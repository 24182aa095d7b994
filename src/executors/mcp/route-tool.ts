/** Who is asked for a tool. */
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
  /** As the step says. */
  readonly server: string | undefined;
  /** Whether the run's tools are asked for at an endpoint. */
  readonly hasEndpoint: boolean;
  readonly isCore: boolean;
  readonly servers: readonly string[];
}

/**
 * Decides by names alone: a server that the step names, then the endpoint or the built-in tools, then `SERVER.TOOL`.
 * Whether a server can be reached never decides, or a tool could be another one tomorrow.
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

/** As programs write it that allow fewer characters. */
function toPlainName(server: string): string {
  return server.replace(/[^A-Za-z0-9_-]/g, "_");
}
