import type { OutputOf } from "pawl/client";
import { useCall } from "../../data/use-call.ts";

export type McpServer = OutputOf<"GET /mcp-servers">["items"][number];

/** The MCP servers as they are, read again when steps begin or end, as steps call them. None is connected for it. */
export function useServers() {
  return useCall("GET /mcp-servers", {}, { when: ({ event }) => event.startsWith("step.") });
}
