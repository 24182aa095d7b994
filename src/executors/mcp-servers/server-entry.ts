/** A configured server: an entry of an `mcpServers` map, with where it stands. */
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
  readonly oauth?: OAuthSettings | undefined;
  /** Milliseconds without a sign of life from a call. */
  readonly timeout?: number | undefined;
  readonly protocol?: Protocol | undefined;
  readonly tools?: ToolFilter | undefined;
  /** A file in place of `command`: what runs it is chosen by its ending. */
  readonly server_path?: string | undefined;
  /** The virtual environment of a server in Python. */
  readonly venv?: string | undefined;
  readonly roots?: readonly ServerRoot[] | undefined;
  /** What becomes of its questions to a person. Default `ask`. */
  readonly elicitation?: "ask" | "refuse" | undefined;
  /** A model is asked for it, at the expense of the step that calls. By default the application's; `max_calls` of one call of a tool. */
  readonly sampling?: {
    readonly model?: string | undefined;
    readonly max_tokens?: number | undefined;
    readonly max_calls?: number | undefined;
  };
  /** Milliseconds to connect, and without a sign of life from a call. */
  readonly timeout_ms?: number | undefined;
  /** If two servers offer a tool of one name, the heavier server gets the name. Default 1. */
  readonly routing_weight?: number | undefined;
  /** Names that agents neither see nor may call; they may end with `*`. */
  readonly exclude?: readonly string[] | undefined;
  /** False: an agent that names it does without it where it cannot be reached. */
  readonly required?: boolean | undefined;
  /** `eager`: connected at the start and held. Default: when it is first needed. */
  readonly start?: "lazy" | "eager" | undefined;
}

/** Of OAuth 2.1. A client that is not given registers itself when somebody logs in. */
export interface OAuthSettings {
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  /** Absent: what the server says that it wants. */
  readonly scope?: string | undefined;
  /** The only issuer that the client is shown to. */
  readonly issuer?: string | undefined;
  /** On this machine, with its port, where the issuer wants to know it. */
  readonly redirect_url?: string | undefined;
  /** `client_credentials`: the client is given tokens for its own secret or key, and nobody logs in. */
  readonly grant?: string | undefined;
  readonly private_key?: string | undefined;
  readonly algorithm?: string | undefined;
}

/** A place that the server may know of: a folder, or any URI. */
export type ServerRoot = string | { readonly uri: string; readonly name?: string | undefined };

/** The protocol revision: `legacy` (with a handshake), 2026-07-28, or whichever the server answers (`auto`). */
export type Protocol = "auto" | "legacy" | "2026-07-28";

/** Names may end with `*`. */
export interface ToolFilter {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export function isToolAllowed({ allow, deny }: ToolFilter, tool: string): boolean {
  return (allow === undefined || isNamedIn(allow, tool)) && !isNamedIn(deny ?? [], tool);
}

/**
 * A server that renames a tool does not open it: where a name that a rule held back is gone, what came later and no rule names is
 * closed until a rule does. `namesOf`: how rules may write a tool.
 */
export function closedAfterChange(
  { gone, late }: { readonly gone: readonly string[]; readonly late: readonly string[] } = { gone: [], late: [] },
  rules: { readonly forbids: readonly string[]; readonly allows?: readonly string[] | undefined },
  namesOf: (tool: string) => readonly string[] = (tool) => [tool],
): readonly string[] {
  const isNamed = (patterns: readonly string[] = [], tool: string) =>
    namesOf(tool).some((name) => isNamedIn(patterns, name));
  if (!gone.some((tool) => isNamed(rules.forbids, tool))) return [];
  return late.filter((tool) => !isNamed(rules.allows, tool) && !isNamed(rules.forbids, tool));
}

function isNamedIn(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => fits(pattern, name));
}

export function fits(pattern: string, tool: string): boolean {
  return pattern.endsWith("*") ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern;
}
