import type { AgentTool } from "../../../ports/agent-toolbox.ts";

/** Whether a list names the tool: by the name that the model sees, by a qualified one, or with all of its server's (`server.*`). */
export function namesTool(names: readonly string[], tool: AgentTool): boolean {
  return names.some((name) => isNamed(tool, name));
}

export function isNamed({ name, server, tool, aliases }: AgentTool, asked: string): boolean {
  if (asked === name || asked === tool || aliases.includes(asked)) return true;
  return server !== undefined && asked === `${server}.*`;
}
