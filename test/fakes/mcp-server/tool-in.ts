import type { AgentTool, ToolboxOffer } from "../../../src/ports/tools/agent-toolbox.ts";

export function namesIn(offer: ToolboxOffer): readonly string[] {
  return offer.tools.map(({ name }) => name);
}

export function toolIn(offer: ToolboxOffer, name: string): AgentTool {
  const found = offer.tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  throw new Error(`There is no ${name} in ${namesIn(offer).join(", ")}: ${JSON.stringify(offer.missing)}`);
}
