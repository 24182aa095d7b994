import { createHash } from "node:crypto";

export interface OfferedTool {
  readonly server: string;
  /** If two servers offer one name, the heavier server gets it; of equals the first. */
  readonly weight: number;
  readonly tool: string;
}

export interface ToolNames {
  /** For a model: unique, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** Names that mean this tool whatever else is offered. */
  readonly aliases: readonly string[];
}

const MAX_CHARS = 64;

/**
 * Names tools for a model. A tool has its own name, with `_` for what a model's name may not hold, if it is the heaviest
 * of that name; the others are called `mcp__SERVER__TOOL`. What is too long or taken ends in a few letters of a hash of
 * server and tool, so that it stays the same.
 */
export function nameTools(tools: readonly OfferedTool[]): readonly ToolNames[] {
  const names = new Map<OfferedTool, string>();
  const taken = new Set<string>();
  for (const offered of [...tools].sort((a, b) => b.weight - a.weight)) {
    const name = choose(offered, taken);
    taken.add(name);
    names.set(offered, name);
  }
  return tools.map((offered) => ({ name: names.get(offered) ?? "", aliases: toAliases(offered) }));
}

function choose(offered: OfferedTool, taken: ReadonlySet<string>): string {
  const plain = shorten(toPlainName(offered.tool), offered);
  if (!taken.has(plain)) return plain;
  const qualified = shorten(toQualifiedName(offered), offered);
  return taken.has(qualified) ? withHash(qualified, offered) : qualified;
}

/** Names that mean a tool of a server, whatever other servers offer. */
export function toAliases({ server, tool }: Pick<OfferedTool, "server" | "tool">): readonly string[] {
  const written = [`${server}.${tool}`, `${server}/${tool}`, `mcp__${server}__${tool}`];
  return [...new Set([...written, toQualifiedName({ server, tool })])];
}

function toQualifiedName({ server, tool }: Pick<OfferedTool, "server" | "tool">): string {
  return `mcp__${toPlainName(server)}__${toPlainName(tool)}`;
}

export function toPlainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

function shorten(name: string, offered: OfferedTool): string {
  return name.length <= MAX_CHARS ? name : withHash(name, offered);
}

function withHash(name: string, { server, tool }: OfferedTool): string {
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
  return `${name.slice(0, MAX_CHARS - hash.length - 1)}_${hash}`;
}
