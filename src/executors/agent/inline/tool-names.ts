import type { AgentTool } from "../../../ports/tools/agent-toolbox.ts";
import type { ToolCallPart, TurnPart } from "../../models/turn-parts.ts";

/** True if a list names the tool: by the name that the model sees, a qualified one, or all tools of its server (`server.*`). */
export function namesTool(names: readonly string[], tool: NamedTool): boolean {
  return names.some((name) => isNamed(tool, name));
}

export type NamedTool = Pick<AgentTool, "name" | "server" | "tool" | "aliases">;

function isNamed({ name, server, tool, aliases }: NamedTool, asked: string): boolean {
  if (asked === name || asked === tool || aliases.includes(asked)) return true;
  return server !== undefined && asked === `${server}.*`;
}

/** Says with a call which tool it means, by a name that always means that one. */
export function withTarget(part: TurnPart, tools: readonly AgentTool[]): TurnPart {
  if (part.type !== "call" || part.isProviders) return part;
  const tool = findTool(part, tools);
  return tool === undefined ? part : { ...part, target: tool.aliases[0] ?? tool.name };
}

/** The tool that a call means. Names go before qualified ones, since a server may call its tools what it likes. */
export function findTool({ name, target }: ToolCallPart, tools: readonly AgentTool[]): AgentTool | undefined {
  if (target !== undefined)
    return tools.find(({ aliases, name: shown }) => (aliases.length === 0 ? shown : aliases[0]) === target);
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => isNamed(tool, name));
}

/** Some servers give the same id to every call, or none: then a result would belong to no call. */
export function withUniqueIds(
  parts: readonly TurnPart[],
  { turn, taken }: { readonly turn: number; readonly taken: Set<string> },
): readonly TurnPart[] {
  return parts.map((part, index) => {
    if (part.type !== "call" || part.isProviders) return part;
    const id = part.id !== "" && !taken.has(part.id) ? part.id : `call_${turn}_${index + 1}`;
    taken.add(id);
    return id === part.id ? part : { ...part, id };
  });
}
