/** A server as somebody configured it: an entry of an `mcpServers` map, with where it stands. */
export interface ServerEntry {
  /** For messages: `.mcp.json`, `pawl.yaml`. */
  readonly origin: string;
  readonly settings: ServerSettings | { readonly problem: string };
}

/** Texts may hold `${NAME}`, or `${NAME:-default}`; they are resolved when the server is connected. */
export interface ServerSettings {
  readonly type?: "stdio" | "http" | "streamable-http" | "sse" | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds without a sign of life from a call. */
  readonly timeout?: number | undefined;
  readonly protocol?: Protocol | undefined;
  readonly tools?: ToolFilter | undefined;
}

/** Which revisions are tried: the one with a handshake, 2026-07-28, or what the server answers to. */
export type Protocol = "auto" | "legacy" | "2026-07-28";

/** Names may end with `*`. */
export interface ToolFilter {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export function isToolAllowed({ allow, deny }: ToolFilter, tool: string): boolean {
  const isNamed = (patterns: readonly string[]) => patterns.some((pattern) => fits(pattern, tool));
  return (allow === undefined || isNamed(allow)) && !isNamed(deny ?? []);
}

function fits(pattern: string, tool: string): boolean {
  return pattern.endsWith("*") ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern;
}
