/** Tools of Claude that a built-in tool of ours stands for. */
const BUILT_INS: ReadonlyMap<string, string> = new Map([
  ["WebFetch", "web_fetch"],
  ["WebSearch", "web_search"],
  ["Bash", "bash"],
  ["Read", "files"],
  ["Write", "files"],
  ["Edit", "files"],
  ["MultiEdit", "files"],
  ["Glob", "files"],
  ["Grep", "files"],
  ["LS", "files"],
]);

/** The meaning of a list `tools` of a Claude agent here. */
export interface MappedTools {
  readonly builtIns: readonly string[];
  /** MCP servers of which it names a tool, or all. */
  readonly servers: readonly string[];
  /** The tools that it may call of them: `mcp__server__tool`, or `server.*`. */
  readonly allow: readonly string[];
  /** Names that nothing here stands for. */
  readonly unknown: readonly string[];
  /** Names with a rule in brackets, such as `Bash(git *)`: without the rule they would allow more than was meant. */
  readonly narrowed: readonly string[];
}

export function mapClaudeTools(written: readonly string[]): MappedTools {
  const builtIns = new Set<string>();
  const servers = new Set<string>();
  const allow = new Set<string>();
  const unknown: string[] = [];
  const narrowed: string[] = [];
  for (const each of written) {
    const name = each.replace(/\(.*\)$/s, "").trim();
    if (name !== each.trim()) {
      narrowed.push(each);
      continue;
    }
    const builtIn = BUILT_INS.get(name);
    const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? [];
    if (builtIn !== undefined) builtIns.add(builtIn);
    else if (server === undefined) unknown.push(name);
    else {
      servers.add(server);
      allow.add(tool === undefined || tool === "*" ? `${server}.*` : name);
    }
  }
  return { builtIns: [...builtIns], servers: [...servers], allow: [...allow], unknown, narrowed };
}
