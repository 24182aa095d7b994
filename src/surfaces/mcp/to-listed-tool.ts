import type { Tool } from "@modelcontextprotocol/server";
import type { OfferedTool } from "../../ports/tools/tool-set.ts";

/** A tool as `tools/list` shows it. */
export function toListedTool(
  { title, description, inputSchema, outputSchema, hints }: OfferedTool,
  name: string,
): Tool {
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: "object" },
    outputSchema: { ...outputSchema, type: "object" },
    annotations: {
      title,
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.openWorld,
    },
  };
}
